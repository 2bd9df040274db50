"""Read hand-in times from a CSV file, because Canvas's archives do not contain them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbgrader.api import MissingEntry

from autograder.classroom.folder import ClassFolder
from autograder.collect.incoming import CollectError
from autograder.collect.name_cleaning import fold_id
from autograder.collect.roster import Roster, Student, has_ids_by_hand, student_of
from autograder.collect.submission_store import TIME
from autograder.collect.tables import read_table, refuse_shortened
from autograder.course import Course

HEADINGS = {
    "time": """time; handed in; handed_in; submitted_at; submitted at; timestamp;
        submission time; last modified (submission); Zeit; Abgabezeit; abgegeben am;
        제출 시간; 제출 시각; 提交时间; heure; hora""",
    "unit": "unit; assignment",
}
CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
HALF = r"(?: ?(?P<half>[AaPp]\.?[Mm]\.?))?"
ZONE = r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d|[A-Z][\w+-]*/[\w+/-]+))?"
DAY, YEAR, MONTH = (
    r"(?P<day>\d{1,2})",
    r"(?P<year>\d{4})",
    r"(?P<name>[A-Za-z]{3,9})\.?",
)
WEEKDAY = r"(?:(?P<weekday>[A-Za-z]{3,9}),? )?"
# The year must come first, or the month must be a name. Otherwise day and month are
# ambiguous.
FORMS = [
    re.compile(f"{date},? ?(?:at )?{CLOCK}{HALF}{ZONE}", re.I if "name" in date else 0)
    for date in (
        rf"{YEAR}(?P<between>[-/.])(?P<month>\d{{1,2}})(?P=between){DAY}[T ,]",
        rf"{WEEKDAY}{DAY}\.? {MONTH},? {YEAR}",
        rf"{WEEKDAY}{MONTH} {DAY},? {YEAR}",
    )
]
MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FIRST_YEAR = 2000


class UncertainTime(ValueError):
    """Report that a text is not a time, or that the time is ambiguous."""


@dataclass(frozen=True)
class TimeRow:
    """Hold the time of a student's submission; an empty slug means any unit."""

    student: Student
    slug: str
    when: str


class Times:
    """Look up the hand-in times of a class's submissions."""

    def __init__(self, rows: list[TimeRow], warnings: Iterable[str] = ()) -> None:
        """Store the rows, and record later which of them are used."""
        self.rows = rows
        self.warnings = list(warnings)
        self._used: set[int] = set()
        self._owners: dict[int, str] = {}

    def match(self, roster: Roster) -> None:
        """Find the student in the roster for each row."""
        self._owners = {}
        for n, row in enumerate(self.rows):
            if owner := _owner(row.student, roster):
                self._owners[n] = owner

    def of(self, student: str, slug: str) -> str:
        """Return a student's hand-in time for a unit in UTC, or "" if there is none."""
        found = [
            n
            for n, owner in self._owners.items()
            if owner == student and self.rows[n].slug in ("", slug)
        ]
        self._used |= set(found)
        return max((self.rows[n].when for n in found), default="")

    def unused(self) -> list[str]:
        """Return the students whose rows matched no submission."""
        rest = (row for n, row in enumerate(self.rows) if n not in self._used)
        return [row.student.id for row in rest]


def _owner(student: Student, roster: Roster) -> str:
    """Return the id of the only student who matches a row, or "".

    The row's id is tried first, then the platform's number, then Moodle's number for
    this assignment, then the address. The name is used only if all of these are
    missing.
    """
    students = roster.students.values()
    by_id = [one for one in students if fold_id(one.id) == fold_id(student.id)]
    participants = [
        one
        for one in students
        if student.participant and one.participant == student.participant
    ]
    certain = (
        by_id if student.has_own_id else [],
        roster.by_number(student.lms),
        participants,
        roster.by_address(student.email) if student.email else [],
    )
    for found in certain:
        if len(found) == 1:
            return found[0].id
    if any(certain):
        return ""
    names = [f"{student.first} {student.last}", f"{student.last} {student.first}"]
    named = {one.id for name in names for one in roster.by_name([name])}
    same = {one.id for one in by_id}
    both = named & same if named and same else named | same
    fits = [one for one in both if _may_be(roster.students[one], student)]
    return fits[0] if len(fits) == 1 else ""


def _may_be(one: Student, other: Student) -> bool:
    """Return True if neither a number nor an address distinguishes the two students."""
    pairs = ((one.lms, other.lms), (fold_id(one.email), fold_id(other.email)))
    return not any(a and b and a != b for a, b in pairs)


def read_times(path: Path, course: Course) -> Times:
    """Read a CSV file with a student, a time and optionally a unit in each row.

    Raises:
        CollectError: if a column is missing or a time is ambiguous.
        CourseError: if a row names an unknown unit.
    """
    table = read_table(path, HEADINGS)
    naming = {"id", "name", "email", "last", "lms"} & set(table.columns)
    if not naming or "time" not in table.columns:
        raise CollectError(
            f"{path}: expected a heading with id and time, perhaps with unit; "
            f"found {table.heading}"
        )
    rows = []
    for number, cells in table.rows:
        for key, column in (("id", "the id"), ("lms", "the number")):
            refuse_shortened(path, number, column, cells.get(key, ""))
        if cells["time"] not in ("", "-"):
            slug = course.unit(cells["unit"]).slug if cells.get("unit") else ""
            try:
                when = f"{parse_time(cells['time']):{TIME}}"
            except UncertainTime as error:
                raise CollectError(
                    f"{path}, row {number}: cannot read the time {cells['time']!r} for "
                    f"certain: {error}. Write it as 2026-11-02 18:30 or as "
                    "2026-11-02 18:30 +01:00"
                ) from None
            student = student_of(cells, has_ids_by_hand(table), number)
            rows.append(TimeRow(student, slug, when))
    return Times(rows, filter(None, [table.words_about_unknown()]))


def parse_time(text: str) -> datetime:
    """Return a time in UTC; without a zone, this machine's time zone is assumed.

    Raises:
        UncertainTime: if the time is ambiguous or unreadable. The message gives the
            reason.
    """
    plain = " ".join(text.split())
    found = next(filter(None, (form.fullmatch(plain) for form in FORMS)), None)
    if found is None:
        raise UncertainTime(_why_not_read(plain))
    parts = found.groupdict()
    name = (parts.get("name") or "").casefold()
    named = [n for n, one in enumerate(MONTHS, 1) if name and one.startswith(name)]
    month = named[0] if named else int(parts.get("month") or 0)
    year, this_year = int(parts["year"]), datetime.now(UTC).year
    if not FIRST_YEAR <= year <= this_year + 1:
        raise UncertainTime(f"the year {year} is not plausible")
    try:
        moment = datetime(
            *(year, month, int(parts["day"])),
            *(_hour(int(parts["hour"]), parts["half"]), int(parts["minute"])),
            int(parts["second"] or 0),
        )
    except ValueError:
        raise UncertainTime("there is no such month, day or hour") from None
    weekday = (parts.get("weekday") or "").casefold()[:3]
    if weekday in WEEKDAYS and WEEKDAYS[moment.weekday()] != weekday:
        raise UncertainTime(f"that day is a {moment:%A}")
    return _in_utc(moment, parts["zone"] or "")


def _why_not_read(text: str) -> str:
    """Return why a text matches none of the accepted forms of a time."""
    if re.fullmatch(r"[\d:.]+ ?(?:[AaPp]\.?[Mm]\.?)?", text) and ":" in text:
        return "it has no date"
    if re.match(r"\d{1,2}[-/. ]+\d{1,2}[-/. ]+\d{2,4}", text):
        return "its first number may be the day or the month"
    zone = re.search(r"\d ?(?:[AaPp][Mm] )?([A-Za-z]{2,5}(?:[+-]\d+)?)$", text)
    if zone and zone[1].upper() not in ("AM", "PM"):
        return f"{zone[1]} is the name of several zones, or of none"
    if not re.search(r"\d:\d\d", text):
        return "it has no time of day"
    return "its format is not known"


def _hour(hour: int, half: str | None) -> int:
    """Return an hour from 0 to 23.

    Raises:
        ValueError: if the hour does not fit a 12-hour clock, as in 18:30 pm.
    """
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("no hour of a half of the day")
    return hour % 12 + (12 if half[0] in "Pp" else 0)


def _in_utc(moment: datetime, zone: str) -> datetime:
    """Convert a time from its zone to UTC.

    Raises:
        UncertainTime: if the clock change makes the time ambiguous or impossible, or if
            the zone is unknown.
    """
    if zone in ("Z", "UTC", "GMT"):
        return moment.replace(tzinfo=UTC)
    if zone[:1] in ("+", "-"):
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        if hours > 14 or minutes > 59:
            raise UncertainTime(f"there is no zone {zone}")
        ahead = timedelta(hours=hours, minutes=minutes)
        own = timezone(-ahead if zone[0] == "-" else ahead)
        return moment.replace(tzinfo=own).astimezone(UTC)
    try:
        tz = ZoneInfo(zone) if zone else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UncertainTime(f"there is no zone {zone}") from None
    local = moment.replace(tzinfo=tz)
    both = [local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]
    if both[0] != both[1]:
        raise UncertainTime("the clocks were changed in this hour: give the zone")
    return both[0]


def due_of(folder: ClassFolder, slug: str) -> datetime | None:
    """Return a unit's due date in UTC, or None if the gradebook has none."""
    with folder.open_gradebook() as gradebook:
        try:
            return gradebook.find_assignment(slug).duedate
        except MissingEntry:
            return None
