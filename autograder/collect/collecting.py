"""Read all files, find students and units, store all work, and install the last."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from filelock import FileLock

from autograder.atomic_write import atomic_write
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.collect.canvas_assignments import keep_assignments
from autograder.collect.detect_unit import UnitDetector
from autograder.collect.import_report import (
    PASSED_OVER,
    REFUSED,
    TAKEN,
    ImportReport,
    ImportResult,
    sent_instead,
)
from autograder.collect.incoming import CLONE, IncomingFiles, IncomingNotebook, LeftOut
from autograder.collect.match_students import StudentMatcher
from autograder.collect.merge_rosters import as_csv, join
from autograder.collect.name_cleaning import full_name
from autograder.collect.platform_names import ParsedName
from autograder.collect.quarantine import Quarantine
from autograder.collect.rename_students import is_graded, move, moves_of
from autograder.collect.roster import (
    Roster,
    Student,
    read_roster,
    students_in_gradebook,
)
from autograder.collect.sorting import SortedNotebook, Sorter, order_of
from autograder.collect.sources import read_incoming, refuse_inside
from autograder.collect.submission_store import (
    AS_GIVEN_OUT,
    ROSTER,
    STORE,
    TIME,
    Record,
    SubmissionStore,
    sha256,
    why_not,
)
from autograder.collect.times import Times, due_of, read_times
from autograder.collect.warnings import (
    other_logins,
    several,
    strays,
    two_ids,
    warnings_about_times,
)
from autograder.late_rule import late_rule_of

OF_THE_KIT = "is a module that students are given"
EMPTY = "is of a repository without a notebook"
GIVEN = "put aside before, and now taken as this student's"
FEW = 4  # if another unit has this many times the students, nobody counts as missing


@dataclass(frozen=True)
class Placed:
    """Hold the result of one student's submissions for one unit."""

    student: str
    slug: str
    last: Record
    kept: int
    new: int
    when: str
    late: bool


@dataclass
class Collected:
    """Hold the results of one collection.

    Attributes:
        report: the result for each file.
        placed: the result for each student and unit.
        created: students who were new to the gradebook.
        moved: maps an old student id to the id in the roster.
        named: how many students got their names from the roster into the gradebook.
        warnings: pairs of a file or row and a warning for the instructor.
    """

    report: ImportReport = field(default_factory=ImportReport)
    placed: list[Placed] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    named: int = 0
    warnings: list[tuple[str, str]] = field(default_factory=list)

    @property
    def missing(self) -> dict[str, list[str]]:
        """For each unit, return the students who sent no file."""
        return self.report.missing


def collect(
    path: Path,
    folder: ClassFolder,
    unit: str | None = None,
    roster: Path | None = None,
    times: Path | None = None,
) -> Collected:
    """Collect the submissions at `path` into a class's folder.

    All input is read before anything is written, and each file is replaced in one step.
    If the run is interrupted, run it again to complete it.

    Args:
        path: a folder, an archive or one notebook.
        folder: the class.
        unit: collect only this unit's notebooks.
        roster: a CSV file of the students. The default is the last roster, or, if there
            is none, the students in the gradebook.
        times: a CSV file with the hand-in times.

    Raises:
        CollectError: if the path or a table has the wrong form or is malicious.
        CourseError: if there is no such unit.
    """
    wanted = folder.course.unit(unit) if unit else None
    sorting = Sorter(UnitDetector(folder.course), wanted)
    if not (is_from_quarantine := Quarantine(folder.root).holds(path)):
        refuse_inside(path, folder.root, folder.coursedir.submitted_directory, STORE)
    kept = folder.root / STORE / ROSTER
    given = read_roster(roster) if roster else None
    before = read_roster(kept) if kept.is_file() else None
    when = read_times(times, folder.course) if times else Times([])
    reading = read_incoming(path)
    warnings = []
    if roster and given:
        warnings += [(roster.name, words) for words in given.warnings]
    if times:
        warnings += [(times.name, words) for words in when.warnings]
    with FileLock(grading_folder(folder.root) / "collect.lock"):
        run = _Collecting(folder, (before, given), when, sorting, is_from_quarantine)
        run.done.warnings += warnings
        done = run.run(reading)
        if given:
            atomic_write(kept, as_csv(run.roster))
            keep_assignments(folder.root, given.of_canvas)
        done.report.write(folder.root, path.resolve())
        return done


class _Collecting:
    """Perform one collection."""

    def __init__(
        self,
        folder: ClassFolder,
        rosters: tuple[Roster | None, Roster | None],
        times: Times,
        sorting: Sorter,
        is_from_quarantine: bool,
    ) -> None:
        """Start with the old and the new roster; either of them may be None.

        Files from the quarantine are not put into the quarantine again.
        """
        self.quarantine, self.keeps = Quarantine(folder.root), not is_from_quarantine
        self.folder, self.times = folder, times
        self.sorting = sorting
        self.submitted = folder.root / folder.coursedir.submitted_directory
        before, given = rosters
        self.given = given or before
        self.roster = self.given or Roster(students_in_gradebook(folder))
        self.matcher = StudentMatcher(folder.root, self.roster, is_from_quarantine)
        self.done = Collected()
        if given:
            self._join(given, before)
        if self.given:
            self.done.moved |= moves_of(folder, self.matcher.known, self.roster)
            self.matcher.rename(self.done.moved)

    def _join(self, given: Roster, before: Roster | None) -> None:
        """Adopt a new roster, and match its students with those of the old one."""
        ours = set(self.matcher.known.values())
        others = (one for one in students_in_gradebook(self.folder)
                  if one.id not in ours)  # fmt: skip
        joined = join(given, before or Roster(others), partial(is_graded, self.folder))
        self.roster = self.given = self.matcher.roster = joined.roster
        self.done.moved = dict(joined.moves)
        self.done.warnings += two_ids(joined.graded)
        self.done.warnings += other_logins(joined.logins)

    def run(self, reading: IncomingFiles) -> Collected:
        """Sort, store and install all files, and then list the missing students."""
        reading.notebooks = list(map(self.quarantine.with_time, reading.notebooks))
        found = self.sorting.sort(reading, self.matcher)
        self.done.warnings += found.warnings
        self.done.report.results += found.leave_out_surplus()
        move(self.folder, self.submitted, self.done.moved)
        self.matcher.save()
        for incoming, result in found.put_aside:
            result = self._put_aside(incoming, result, reading)
            self.done.report.results.append(result)
        units = found.by_unit()
        placed = {one for item in found.taken for one in item.students}
        known = self.roster.students
        new = [Student(one) for one in placed if one not in known]
        self.times.match(Roster([*known.values(), *new]))
        if self.sorting.wanted:
            units.setdefault(self.sorting.wanted.slug, {})
        for slug in sorted(units):
            self._collect_unit(slug, units[slug])
        if self.keeps:
            for item in found.taken:
                self.quarantine.release(item.incoming)
        self._leave_out(reading)
        self._say_missing(units)
        self._add_students(found.taken)
        if self.given:
            self.done.warnings += strays(self.submitted, self.roster.students)
        if rest := self.times.unused():
            fit = "fits" if len(rest) == 1 else "fit"
            words = f"{fit} no submission that was collected: {', '.join(rest)}"
            rows = several(len(rest), "row")
            self.done.warnings.append((f"{rows} of the times", words))
        return self.done

    def _put_aside(
        self, incoming: IncomingNotebook, result: ImportResult, reading: IncomingFiles
    ) -> ImportResult:
        """Put a file aside, or take it if the instructor assigned it to a student."""
        owner = self.quarantine.owner(incoming, result.slug) if result.slug else ""
        if owner and not result.students and not result.is_untouched:
            return replace(result, state=TAKEN, students=(owner,), why=GIVEN)
        if self.keeps:
            named = reading.named(incoming.parts, self.sorting.slugs)
            due = due_of(self.folder, result.slug) if result.slug else None
            self.quarantine.keep(incoming, _record_of(incoming, named), due)
        return result

    def _leave_out(self, reading: IncomingFiles) -> None:
        """Report the files that are not notebooks or that cannot be read."""
        for item in reading.left_out:
            named = reading.named(item.parts, self.sorting.slugs)
            who = self.matcher.match(named, may_be_new=False).students
            if not who and (named.platform != "files" or item.may_stand_for_work):
                who = named.people[:1]
            state, why = self._state(item, reading)
            beside = not item.may_be_work and why != EMPTY
            self.done.report.results.append(
                ImportResult(item.source, state, who, why, is_beside=beside)
            )

    def _state(self, item: LeftOut, reading: IncomingFiles) -> tuple[str, str]:
        """Return the state of a file that is not a notebook, and the reason."""
        *home, name = item.parts
        is_clone = name == CLONE and tuple(home) in reading.clones
        if is_clone and not reading.has_work(tuple(home)):
            return REFUSED, EMPTY
        if self._is_of_kit(item.parts):
            return PASSED_OVER, OF_THE_KIT
        return (PASSED_OVER if item.is_by_product else REFUSED), item.why

    def _is_of_kit(self, parts: tuple[str, ...]) -> bool:
        """Return whether a file is in a folder named like the course's package."""
        return parts[-1].endswith(".py") and self.folder.course.package in parts[:-1]

    def _collect_unit(self, slug: str, found: dict[str, list[SortedNotebook]]) -> None:
        self.folder.register(slug)
        due = due_of(self.folder, slug)
        installed = {}
        for student, items in sorted(found.items()):
            place = SubmissionStore(self.folder.root, self.submitted, student, slug)
            place.keep_what_is_there()
            new = [place.keep(self._record(item), item.incoming.content)
                   for item in sorted(items, key=order_of)]  # fmt: skip
            if when := self.times.of(student, slug):
                place.note_time(when)
            last = installed[student] = place.install(due)
            kept = len(place.records())
            number = sum(record is not None for record in new)
            when, late = last.time(due), last.is_late(due)
            self.done.placed.append(
                Placed(student, slug, last, kept, number, when, late)
            )
        self._account(found, installed, due)
        grace = late_rule_of(self.folder.course).minutes_of_grace
        last_ones = list(installed.values())
        self.done.warnings += warnings_about_times(slug, last_ones, due, grace)

    def _account(
        self,
        found: dict[str, list[SortedNotebook]],
        installed: dict[str, Record],
        due: datetime | None,
    ) -> None:
        """Report each file that was taken; a team's file is reported only once."""
        items = {id(item): item for items in found.values() for item in items}
        for item in items.values():
            own = item.incoming
            record = self._record(item)
            last = installed[item.students[0]]
            counts = (last.sha256, last.file) == (record.sha256, record.file)
            when = last.time(due) if counts else record.time(due)
            given_out = AS_GIVEN_OUT if record.is_untouched else ""
            why = given_out if counts else why_not(record, last)
            if why.startswith("of the same moment"):
                self.done.warnings.append((own.source, why))
            if not own.parts[-1].lower().endswith(".ipynb"):
                why = f"a notebook under another ending{'; ' if why else ''}{why}"
            slug = item.unit.slug
            self.done.report.results.append(
                ImportResult(own.source, TAKEN, item.students, why, slug, when)
            )

    def _record(self, item: SortedNotebook) -> Record:
        record = _record_of(item.incoming, item.named)
        came_as = self.quarantine.came_as(item.incoming)
        return replace(record, is_untouched=item.is_untouched, came_as=came_as)

    def _say_missing(self, units: dict[str, dict[str, list[SortedNotebook]]]) -> None:
        """List the students who have never sent a file for the unit in any form."""
        most = max(map(len, units.values()), default=0)
        slugs = [slug for slug in sorted(units) if FEW * len(units[slug]) >= most]
        if self.sorting.wanted:
            slugs = [self.sorting.wanted.slug]
        instead = set(self.done.report.instead())
        known = set(self.roster.students) | self.matcher.created
        if not self.roster.is_given:
            known |= {path.name for path in self.submitted.glob("*") if path.is_dir()}
        self.done.report.names = {
            one.id: full_name(one.first, one.last)
            for one in self.roster.students.values()
        }
        for slug in slugs:
            has = {path.parent.name for path in self.submitted.glob(f"*/{slug}")}
            before = sent_instead(self.folder.root, slug).keys()
            self.done.report.missing[slug] = sorted(known - has - instead - before)

    def _add_students(self, taken: list[SortedNotebook]) -> None:
        """Write the roster and the new students into the gradebook."""
        users = {item.students[0]: item.named for item in reversed(taken)}
        self.done.created = sorted(set(users) & self.matcher.created)
        new: dict[str, dict[str, str]] = {}
        for student in self.done.created:
            named = users[student]
            has_number = named.user and not named.is_anonymous
            new[student] = {"lms_user_id": named.user} if has_number else {}
        if self.given:
            new |= {one.id: one.details() for one in self.roster.students.values()}
            self.done.named = len(self.roster.students)
        if new:
            with self.folder.open_gradebook() as gradebook:
                for student, details in new.items():
                    gradebook.update_or_create_student(student, **details)


def _record_of(incoming: IncomingNotebook, named: ParsedName) -> Record:
    return Record(
        sha256(incoming.content),
        f"{incoming.when:{TIME}}",
        incoming.source,
        named.file,
        named.version,
        named.late,
        incoming.is_timed and named.platform != "git",  # the time in a clone is wrong
    )
