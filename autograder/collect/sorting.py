"""Sort notebooks by unit and student."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from autograder.collect.detect_unit import UnitDetector
from autograder.collect.import_report import PUT_ASIDE, REFUSED, ImportResult
from autograder.collect.incoming import IncomingFiles, IncomingNotebook
from autograder.collect.match_students import (
    Match,
    Name,
    StudentMatcher,
    name_in_archive,
    twins_among_files,
    twins_of_a_platform,
)
from autograder.collect.platform_names import ParsedName
from autograder.course import Unit

# A student could send thousands of files, and storing each takes a moment.
MOST_TAKEN = 100  # files of a student for a unit
MOST_PUT_ASIDE = 5000  # files of one archive or folder, more than a class sends
TOO_MANY = "is one of more than {0} files: only {0} are kept"
FEWEST, MOST = 5, 0.75  # number and share of notebooks that decide an archive's unit


@dataclass(frozen=True)
class SortedNotebook:
    """Hold a notebook with a known unit, and its student or its team's students."""

    incoming: IncomingNotebook
    named: ParsedName
    students: tuple[str, ...]
    unit: Unit
    is_untouched: bool = False


@dataclass
class SortResult:
    """Hold the notebooks that were taken or put aside, and the warnings."""

    taken: list[SortedNotebook] = field(default_factory=list)
    put_aside: list[tuple[IncomingNotebook, ImportResult]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)

    def leave_out_surplus(self) -> list[ImportResult]:
        """Leave out all but the last `MOST_TAKEN` of a student's files for a unit.

        Also leave out all but the first of the files that were put aside, if they come
        from the same archive or folder.

        Returns:
            The results for the files that were left out.
        """
        surplus, left_out = [], set[int]()
        counts: Counter[object] = Counter()
        for item in sorted(self.taken, key=order_of, reverse=True):
            counts[item.unit, item.students] += 1
            if counts[item.unit, item.students] > MOST_TAKEN:
                why = TOO_MANY.format(MOST_TAKEN)
                own = item.incoming.source, REFUSED, item.students, why
                surplus.append(ImportResult(*own, item.unit.slug, is_beside=True))
                left_out.add(id(item))
        self.taken = [one for one in self.taken if id(one) not in left_out]
        aside = []
        for incoming, result in self.put_aside:
            around = incoming.parts[:-1][:1]
            counts[around] += len(around)
            if counts[around] > MOST_PUT_ASIDE:
                why = TOO_MANY.format(MOST_PUT_ASIDE)
                surplus.append(replace(result, state=REFUSED, why=why))
            else:
                aside.append((incoming, result))
        self.put_aside = aside
        return surplus

    def by_unit(self) -> dict[str, dict[str, list[SortedNotebook]]]:
        """Return the taken notebooks by unit and student."""
        found: dict[str, dict[str, list[SortedNotebook]]] = {}
        for item in self.taken:
            of_unit = found.setdefault(item.unit.slug, {})
            for student in item.students:
                of_unit.setdefault(student, []).append(item)
        return found


def order_of(item: SortedNotebook) -> tuple[int, datetime, int]:
    """Return a key that sorts the submissions of a student by their time."""
    return item.named.file or 0, item.incoming.when, item.named.version


class Sorter:
    """Find the unit and the student of each notebook."""

    def __init__(self, detector: UnitDetector, wanted: Unit | None) -> None:
        """Use a detector of units; take only the unit `wanted`, or all for None."""
        self.detector, self.wanted = detector, wanted
        self.slugs = tuple(unit.slug for unit in detector.units)

    def sort(self, reading: IncomingFiles, matcher: StudentMatcher) -> SortResult:
        """Sort all notebooks; other files' names also help to detect namesakes."""
        found = SortResult()
        notebooks = reading.notebooks
        named = [reading.named(one.parts, self.slugs) for one in notebooks]
        others = [reading.named(one.parts, self.slugs) for one in reading.left_out]
        units = [
            self.detector.unit(incoming, one.stem) or self.wanted
            for incoming, one in zip(notebooks, named, strict=True)
        ]
        twins = twins_of_a_platform([*named, *others])
        slugs = [unit.slug if unit else "" for unit in units]
        places = twins_among_files(list(zip(notebooks, named, slugs, strict=True)))
        own = _units_of_archives(named, units)
        for place, incoming in enumerate(notebooks):
            one, unit = named[place], units[place]
            is_twin = place in places or _is_twin(one, twins)
            match = matcher.match(one, is_twin)
            why, is_beside = self._problem(one, unit, match, own, matcher)
            if unit is None or why:
                slug = unit.slug if unit else ""
                blank = self._is_untouched(incoming, unit)
                result = ImportResult(
                    *(incoming.source, PUT_ASIDE, match.students, why, slug),
                    is_beside=is_beside,
                    is_untouched=blank,
                )
                found.put_aside.append((incoming, result))
                continue
            for other in dict.fromkeys(matcher.others(one, match.students)):
                whose = " and ".join(match.students)
                words = f"was taken as {whose}'s, but names {other} inside"
                found.warnings.append((incoming.source, words))
            said = self.detector.named_unit(one.stem)
            if said and said != unit:
                words = f"holds the exercises of {unit.slug}, not of {said.slug}"
                found.warnings.append((incoming.source, words))
            is_untouched = self._is_untouched(incoming, unit)
            item = SortedNotebook(incoming, one, match.students, unit, is_untouched)
            found.taken.append(item)
        return found

    def _is_untouched(self, incoming: IncomingNotebook, unit: Unit | None) -> bool:
        if unit is None:
            return False
        return self.detector.is_untouched(incoming.content, unit)

    def _problem(
        self,
        named: ParsedName,
        unit: Unit | None,
        match: Match,
        own: dict[tuple[str, ...], Unit],
        matcher: StudentMatcher,
    ) -> tuple[str, bool]:
        """Return why a notebook is put aside, or "", and whether it may be ignored."""
        expected = self.wanted or own.get(named.home[:-1])
        if unit is None:
            return "is of no unit that is known: name one with --unit", False
        if self.wanted and unit != self.wanted:
            return f"is of unit {unit.slug}, but --unit names another", True
        if not match.students:
            return match.why, False
        if expected and unit != expected and named.number:
            words = f"is of unit {unit.slug}, in an archive of {expected.slug}: "
            return f"{words}take it with --unit {unit.number:02}", True
        holder = matcher.holder(named)
        if holder and holder not in match.students:
            whose = " and ".join(match.students)
            words = f"lies in the folder of {holder}, but is named as {whose}'s"
            return words, False
        return "", False


def _is_twin(named: ParsedName, twins: set[Name]) -> bool:
    return bool(named.number) and name_in_archive(named) in twins


def _units_of_archives(
    named: list[ParsedName], units: list[Unit | None]
) -> dict[tuple[str, ...], Unit]:
    """For each platform archive, return the unit to which most notebooks belong."""
    counts: dict[tuple[str, ...], Counter[Unit]] = {}
    for one, unit in zip(named, units, strict=True):
        if one.number and unit:
            counts.setdefault(one.home[:-1], Counter())[unit] += 1
    found = {}
    for archive, units_of in counts.items():
        unit, most = units_of.most_common(1)[0]
        if most >= FEWEST and most >= MOST * units_of.total():
            found[archive] = unit
    return found
