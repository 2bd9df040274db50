"""Collect: read all, find student and unit of each, keep all, put the last in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from filelock import FileLock
from nbgrader.api import Gradebook, MissingEntry

from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.collect.identities import Identities, students_in_gradebook
from autograder.collect.incoming import Incoming, Reading, read_incoming
from autograder.collect.names import Named, folder_name, letters, take_apart
from autograder.collect.recognise import Recogniser
from autograder.collect.roster import Roster, read_roster
from autograder.collect.shelf import (
    SHELF,
    TIME,
    Place,
    Record,
    sha256,
    with_due,
)
from autograder.course import Unit
from autograder.whole_files import write_whole

UNSORTED = "_not-sorted"
NOBODY = "does not say whose it is"


@dataclass(frozen=True)
class Placed:
    """What became of one student's submissions of one unit."""

    student: str
    slug: str
    last: Record
    kept: int
    new: int


@dataclass
class Collected:
    """What collecting did.

    Attributes:
        placed: who handed in what.
        created: students who were unknown.
        refused: what was not taken, and why.
        ignored: files that are no notebooks.
        missing: unit to the students who have not handed it in.
        warnings: what was taken, and what an instructor should look at.
    """

    placed: list[Placed] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Sorted:
    """A notebook of which student and unit are known."""

    incoming: Incoming
    named: Named
    student: str
    unit: Unit


def collect(
    path: Path, folder: ClassFolder, unit: str | None = None, roster: Path | None = None
) -> Collected:
    """Collect what lies at `path` into a class's folder.

    Everything is read before anything is written; a file is the old one or the new one;
    whatever stops it, collecting again completes it.

    Args:
        path: A folder, an archive, or one notebook.
        folder: the class.
        unit: take this unit's notebooks only.
        roster: A CSV file of students; by default those in the gradebook.

    Raises:
        CollectError: if the path or the roster is no such thing, or malicious.
        CourseError: if there is no such unit.
    """
    wanted = folder.course.unit(unit) if unit else None
    students = read_roster(roster) if roster else None
    reading = read_incoming(path)
    with FileLock(grading_folder(folder.root) / "collect.lock"):
        return _Collecting(folder, wanted, students).run(reading)


class _Collecting:
    """One run of collecting."""

    def __init__(
        self, folder: ClassFolder, wanted: Unit | None, roster: Roster | None
    ) -> None:
        self.folder, self.wanted = folder, wanted
        self.submitted = folder.root / folder.coursedir.submitted_directory
        self.given = roster
        self.roster = roster or Roster(students_in_gradebook(folder))
        self.identities = Identities(folder.root, self.roster)
        self.recogniser = Recogniser(folder.course)
        self.slugs = tuple(unit.slug for unit in folder.course.units)
        self.done = Collected()
        self.unsorted: list[tuple[Incoming, str]] = []

    def run(self, reading: Reading) -> Collected:
        """Sort, keep, install; then say who is missing."""
        refused = [("/".join(parts), why) for parts, why in reading.refused]
        self.done.refused, self.done.ignored = refused, reading.ignored
        found: dict[str, dict[str, list[Sorted]]] = {}
        for item in self._sorted(reading.notebooks):
            of_unit = found.setdefault(item.unit.slug, {})
            of_unit.setdefault(item.student, []).append(item)
        if self.wanted:
            found.setdefault(self.wanted.slug, {})
        self.identities.save()
        for incoming, why in self.unsorted:
            self._keep_unsorted(incoming, why)
        for slug in sorted(found):
            self._collect_unit(slug, found[slug])
        self._add_students({s: i for of in found.values() for s, i in of.items()})
        return self.done

    def _sorted(self, notebooks: list[Incoming]) -> Iterator[Sorted]:
        """Yield the notebooks whose unit and student are known; note the others."""
        all_named = [take_apart(incoming.parts, self.slugs) for incoming in notebooks]
        twins = _twins(all_named)
        for incoming, named in zip(notebooks, all_named, strict=True):
            unit = self.recogniser.unit(incoming, named.stem) or self.wanted
            twin = letters(named.people[0]) in twins if named.people else False
            student = "" if twin else self.identities.student(named)
            if unit is None:
                why = "is of no unit that is known: name one with --unit"
            elif self.wanted and unit != self.wanted:
                why = f"is of unit {unit.slug}, which was not asked for"
            elif not student:
                why = "is of one of two students with this name" if twin else NOBODY
            elif (holder := self.identities.holder(named)) not in ("", student):
                why = f"lies in the folder of {holder}, but is named as {student}'s"
            else:
                self._warn_of_others(incoming, named, student)
                yield Sorted(incoming, named, student, unit)
                continue
            self.unsorted.append((incoming, why))

    def _warn_of_others(self, incoming: Incoming, named: Named, student: str) -> None:
        """Note whom a notebook names beside the student who handed it in."""
        for other in dict.fromkeys(self.identities.others(named, student)):
            words = f"was taken as {student}'s, but names {other} inside"
            self.done.warnings.append((incoming.source, words))

    def _keep_unsorted(self, incoming: Incoming, why: str) -> None:
        """Keep what cannot be put anywhere, and note why."""
        name = f"{sha256(incoming.content)[:8]}-{folder_name(incoming.source)}.ipynb"
        write_whole(self.folder.root / SHELF / UNSORTED / name, incoming.content)
        self.done.refused.append((incoming.source, why))

    def _collect_unit(self, slug: str, found: dict[str, list[Sorted]]) -> None:
        self.folder.register(slug)
        due = _due(self.folder, slug)
        for student, items in sorted(found.items()):
            place = Place(self.folder.root, self.submitted, student, slug)
            place.keep_what_is_there()
            new = [
                place.keep(with_due(_record(item), due), item.incoming.content)
                for item in sorted(items, key=_order)
            ]
            last = place.install()
            kept = len(place.records())
            number = sum(record is not None for record in new)
            self.done.placed.append(Placed(student, slug, last, kept, number))
        known = set(self.roster.students) | self.identities.created
        has = {path.parent.name for path in self.submitted.glob(f"*/{slug}")}
        known |= {path.name for path in self.submitted.glob("*") if path.is_dir()}
        self.done.missing[slug] = sorted(known - has)

    def _add_students(self, found: dict[str, list[Sorted]]) -> None:
        """Write the roster and the new students into the gradebook."""
        self.done.created = sorted(set(found) & self.identities.created)
        new: dict[str, dict[str, str]] = {student: {} for student in self.done.created}
        for student in self.done.created:
            user = found[student][0].named.user
            new[student] = {"lms_user_id": user} if user else {}
        if self.given:
            new |= {one.id: one.details() for one in self.roster.students.values()}
        if new:
            with Gradebook(self.folder.db_url) as gradebook:
                for student, details in new.items():
                    gradebook.update_or_create_student(student, **details)


def _twins(all_named: list[Named]) -> set[str]:
    """Return the names that several participants of a Moodle assignment have."""
    numbers: dict[str, set[str]] = {}
    for named in all_named:
        if named.participant:
            who = letters(named.people[0])
            numbers.setdefault(who, set()).add(named.participant)
    return {who for who, found in numbers.items() if len(found) > 1}


def _order(item: Sorted) -> tuple[int, datetime, int]:
    return item.named.file or 0, item.incoming.when, item.named.version


def _record(item: Sorted) -> Record:
    named, incoming = item.named, item.incoming
    when = f"{incoming.when:{TIME}}"
    return Record(
        sha256(incoming.content),
        when,
        incoming.source,
        named.file,
        named.version,
        named.late,
    )


def _due(folder: ClassFolder, slug: str) -> datetime | None:
    """Return when a unit was due, in UTC, if the gradebook says so."""
    with Gradebook(folder.db_url) as gradebook:
        try:
            return gradebook.find_assignment(slug).duedate
        except MissingEntry:
            return None
