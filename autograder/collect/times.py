"""When submissions were handed in, from a CSV file: Canvas's archives do not say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dateutil.parser import ParserError, parse
from nbgrader.api import MissingEntry

from autograder.classroom.folder import ClassFolder
from autograder.collect.incoming import CollectError
from autograder.collect.roster import Student, read_table, student_of
from autograder.collect.submission_store import TIME
from autograder.course import Course

COLUMNS = {
    "time": ("time", "handed in", "handed_in", "submitted_at", "submitted at",
             "timestamp", "last modified (submission)"),
    "unit": ("unit", "assignment"),
}  # fmt: skip
UNCLEAR = re.compile(r"\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")


def _own_id(student: Student) -> str:
    return student.id if student.has_own_id else ""


def _number(student: Student) -> str:
    return student.lms


def _participant(student: Student) -> str:
    return student.participant


def _address(student: Student) -> str:
    return student.email.casefold()


CERTAIN = (_own_id, _number, _participant, _address)  # what tells who somebody is


def _differ(one: Student, other: Student) -> bool:
    """Say whether an address tells two students of one name apart."""
    both = _address(one), _address(other)
    return all(both) and both[0] != both[1]


@dataclass(frozen=True)
class TimeRow:
    """A time of a student's submission; of any unit, if it names none."""

    student: Student
    slug: str
    when: str


class Times:
    """The times of a class's submissions."""

    def __init__(self, rows: list[TimeRow]) -> None:
        """Keep the rows, and note which are used."""
        self.rows = rows
        self._used: set[int] = set()

    def of(self, student: Student, slug: str) -> str:
        """Return when a student handed in a unit, in UTC; "" if no row tells."""
        fits = {n: row.student for n, row in enumerate(self.rows)
                if row.slug in ("", slug)}  # fmt: skip
        for key in CERTAIN:
            found = [
                n for n, one in fits.items() if key(one) and key(one) == key(student)
            ]
            if found:
                break
        else:
            own = set[str]().union(*student.forms()) - {""}
            may_be = {n: one for n, one in fits.items() if not _differ(one, student)}
            named = [n for n, one in may_be.items() if _names(one) & own]
            same = [n for n, one in may_be.items() if one.id == student.id]
            found = same or (named if len(named) == 1 else [])
        self._used |= set(found)
        return max((self.rows[n].when for n in found), default="")

    def unused(self) -> list[str]:
        """Return the students of rows that fitted no submission."""
        rest = (row for n, row in enumerate(self.rows) if n not in self._used)
        return [row.student.id for row in rest]


def _names(student: Student) -> set[str]:
    """Return both orders of a name, as letters alone."""
    first, last, _ = student.forms()
    return (first | last) - {""}


def read_times(path: Path, course: Course) -> Times:
    """Read a CSV file with a student, a time and perhaps a unit in each row.

    Raises:
        CollectError: if a column is missing, or a time cannot be read for certain.
        CourseError: if it names a unit that is not there.
    """
    table = read_table(path, COLUMNS)
    who = {"id", "name", "email", "last", "lms"} & set(table.columns)
    if not who or "time" not in table.columns:
        raise CollectError(
            f"{path}: expected a heading with id and time, perhaps with unit; "
            f"found {table.heading}"
        )
    rows = []
    for number, cells in enumerate(table.cells, 2):
        if cells["time"] not in ("", "-"):
            slug = course.unit(cells["unit"]).slug if cells.get("unit") else ""
            when = _time(f"{path}, row {number}", cells["time"])
            rows.append(TimeRow(student_of(cells), slug, when))
    return Times(rows)


def _time(place: str, text: str) -> str:
    """Return a time in UTC; without a zone it is one of this machine's."""
    try:
        if UNCLEAR.search(text):
            raise ParserError("day and month may be either")
        return f"{parse(text).astimezone(UTC):{TIME}}"
    except (ParserError, ValueError, OverflowError):
        raise CollectError(
            f"{place}: cannot read the time {text!r}; write it as 2026-11-02 18:30"
        ) from None


def due_of(folder: ClassFolder, slug: str) -> datetime | None:
    """Return when a unit was due, in UTC, if the gradebook says so."""
    with folder.open_gradebook() as gradebook:
        try:
            return gradebook.find_assignment(slug).duedate
        except MissingEntry:
            return None
