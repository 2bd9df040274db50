"""Know the students: from a CSV file, or from the gradebook."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.atomic_write import text_of_table
from autograder.collect.incoming import CollectError
from autograder.collect.name_cleaning import folder_name, letters

# What columns are called by nbgrader, Canvas, Moodle, Google Classroom and by hand.
COLUMNS = {
    "id": ("id", "student_id", "username", "sis login id", "login", "id number"),
    "lms": ("lms_user_id", "canvas_id", "user id", "lms id"),
    "first": ("first_name", "first name", "firstname", "given name", "vorname"),
    "last": (
        "last_name",
        "last name",
        "surname",
        "lastname",
        "family name",
        "nachname",
    ),
    "name": ("name", "student", "full name", "fullname", "student name"),
    "email": ("email", "email address", "e-mail", "mail"),
    "github": ("github_username", "github username", "github", "git"),
    "participant": ("identifier",),  # of Moodle's grading worksheet
    "team": ("team", "group", "group_name", "group name", "team name", "gruppe"),
}
OWN_IDS = ("id", "student_id")  # what the instructor's own column of ids is called
LONG_ID = 4  # characters of an id that is found among other words
NOT_STUDENTS = ("points possible", "student, test")


@dataclass(frozen=True)
class Student:
    """One student: the folder's name, and what is known beside it."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""
    team: str = ""
    participant: str = ""
    github: str = ""
    has_own_id: bool = True  # no platform's, nor made of the address or the name

    def details(self) -> dict[str, str]:
        """Return what the gradebook has columns for."""
        found = {
            "first_name": self.first,
            "last_name": self.last,
            "email": self.email,
            "lms_user_id": self.lms,
        }
        return {key: value for key, value in found.items() if value}

    def forms(self) -> tuple[set[str], set[str], set[str]]:
        """Return ways to write the name, as letters alone.

        Returns:
            First name first; last name first; and all others, the id among them.
        """
        words = f"{self.first} {self.last}".split()
        others = {"".join(words[cut:] + words[:cut]) for cut in range(len(words))}
        others |= {self.id, self.email.partition("@")[0], self.github}
        plain = (
            {letters(f"{self.first}{self.last}")},
            {letters(f"{self.last}{self.first}")},
        )
        return *plain, {letters(one) for one in others}


class Roster:
    """Find students by number, id, name or team."""

    def __init__(
        self,
        students: Iterable[Student],
        is_given: bool = False,
        columns: Iterable[str] = COLUMNS,
    ) -> None:
        """Keep the students by their ids, and by everything that names one.

        Args:
            students: those that are known.
            is_given: whether an instructor says that there are no others.
            columns: what the file says of each, even that there is none; see COLUMNS.
        """
        self.is_given, self.columns = is_given, frozenset(columns)
        self.students = {student.id: student for student in students}
        self._by_lms = {s.lms: s for s in self.students.values() if s.lms}
        self._ids: dict[str, str] = {}
        self._forms: tuple[dict[str, list[Student]], ...] = ({}, {}, {})
        self._teams: dict[str, list[Student]] = {}
        for student in self.students.values():
            for written in filter(None, (student.id, student.email, student.github)):
                self._ids[_plain(written)] = student.id
            for found, forms in zip(self._forms, student.forms(), strict=True):
                for form in filter(None, forms):
                    found.setdefault(form, []).append(student)
            if student.team:
                self._teams.setdefault(letters(student.team), []).append(student)

    def by_number(self, lms: str) -> Student | None:
        """Find the student of a platform's number."""
        return self._by_lms.get(lms)

    def by_whole_id(self, text: str) -> str:
        """Return the id that a text is; "" if it is none."""
        return self._ids.get(_plain(text), "")

    def by_id(self, texts: Iterable[str]) -> list[str]:
        """Return the ids that stand in texts; short ones must be all of a text."""
        found: dict[str, None] = {}
        for text in texts:
            words = re.split(r"[\s,;()\[\]_]+", text) + re.split(r"[^\w@.]+|_", text)
            long = (one.strip("-.") for one in words if _is_long_id(one))
            ids = (self._ids.get(_plain(one)) for one in (text.strip(), *long))
            found |= dict.fromkeys(one for one in ids if one)
        return list(found)

    def without_ids(self, person: str) -> str:
        """Return a name without the ids beside it."""
        words = person.split()
        return " ".join(w for w in words if w == person or not self.by_id([w]))

    def by_name(
        self, people: Iterable[str], platform: str = "", lms: str = ""
    ) -> list[Student]:
        """Find the students that a name means: several, if they are namesakes.

        The order in which the platform writes names decides between Kim Lee and Lee
        Kim; of whom another number is known is not meant.
        """
        first, last, others = self._forms
        order = (last, first, others) if platform == "canvas" else (first, last, others)
        for person in people:
            for forms in order:
                found = forms.get(letters(person), [])
                if found := [one for one in found if not (lms and one.lms)]:
                    return found
        return []

    def team(self, people: Iterable[str]) -> list[Student]:
        """Return the members of a team that is named as a whole."""
        found = (self._teams.get(letters(person), []) for person in people)
        return next(filter(None, found), [])

    def find(self, people: Iterable[str], lms: str = "") -> Student | None:
        """Find the student whom a number or a name means, and nobody else."""
        if one := self.by_number(lms):
            return one
        found = self.by_name(people, lms=lms)
        return found[0] if len(found) == 1 else None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _is_long_id(word: str) -> bool:
    """Say whether a word among others may be an id: names hold no digits."""
    has_digit = any(one.isdigit() for one in word)
    return len(word) >= LONG_ID and (has_digit or "@" in word)


def read_roster(path: Path) -> Roster:
    """Read a CSV file with a heading: nbgrader's, or one that a platform exports.

    Raises:
        CollectError: if it has no column that names students.
    """
    rows = read_table(path)
    if not {"id", "name", "email", "last"} & set(rows.columns):
        raise CollectError(
            f"{path}: expected a heading with id, first_name, last_name, email and "
            f"lms_user_id, or some of them; found {rows.heading}"
        )
    is_ours = rows.columns.get("id", "").strip().casefold() in OWN_IDS
    students = [student_of(one, is_ours) for one in rows.cells if _is_student(one)]
    _refuse_twins(path, students)
    return Roster(students, is_given=True, columns=rows.columns)


@dataclass(frozen=True)
class Table:
    """A CSV file whose columns are known by what they hold."""

    columns: dict[str, str]
    cells: list[dict[str, str]]
    heading: str


def read_table(path: Path, more: Mapping[str, Sequence[str]] | None = None) -> Table:
    """Read a CSV file; `more` are names of columns beside those of a roster.

    Raises:
        CollectError: if it cannot be read.
    """
    try:
        text = text_of_table(path)
    except FileNotFoundError:
        raise CollectError(f"{path} is not there: look at the path.") from None
    except UnicodeDecodeError:
        raise CollectError(
            f"{path} is not in UTF-8: save it again, in Excel as `CSV UTF-8`."
        ) from None
    except OSError as error:
        raise CollectError(f"{path} cannot be read: {error.strerror}.") from None
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    rows = list(csv.DictReader(io.StringIO(text), delimiter=separator))
    names = list(rows[0]) if rows else first.split(separator)
    columns = _columns(names, {**COLUMNS, **(more or {})})
    cells = [{key: (row[name] or "").strip() for key, name in columns.items()}
             for row in rows]  # fmt: skip
    return Table(columns, cells, first.strip())


def _columns(names: list[str], wanted: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return which column holds what.

    In a file of Canvas, `ID` is Canvas's number, and the login is the student's.
    """
    plain = {name.strip().casefold(): name for name in names if name}
    found = {}
    for key, known in wanted.items():
        name = next((plain[one] for one in known if one in plain), None)
        if name is not None:
            found[key] = name
    if "sis login id" in plain:
        found["id"] = plain["sis login id"]
        if "id" in plain:
            found["lms"] = plain["id"]
    return found


def _is_student(row: dict[str, str]) -> bool:
    name = row.get("name", "").casefold()
    return any(row.values()) and not name.startswith(NOT_STUDENTS)


def student_of(row: Mapping[str, str], is_ours: bool = True) -> Student:
    """Return whom a row of a table is about.

    Args:
        row: what stands in it.
        is_ours: whether an id there is one that the instructor chose.
    """
    first, last = row.get("first", ""), row.get("last", "")
    name = row.get("name", "")
    if not (first or last) and "," in name:
        last, first = (part.strip() for part in name.split(",", 1))
    elif not (first or last):
        first, _, last = name.rpartition(" ")
    email = row.get("email", "")
    participant = "".join(re.findall(r"\d+$", row.get("participant", "")))
    given = row.get("id") or email.partition("@")[0] or f"{first} {last}"
    safe = given if re.fullmatch(r"\w[\w.@-]*", given) else folder_name(given)
    return Student(
        safe,
        first,
        last,
        email,
        row.get("lms", ""),
        row.get("team", ""),
        participant,
        row.get("github", ""),
        has_own_id=is_ours and bool(row.get("id")),
    )


def _refuse_twins(path: Path, students: list[Student]) -> None:
    ids = [student.id for student in students]
    twins = sorted({one for one in ids if not one or ids.count(one) > 1})
    if twins:
        raise CollectError(f"{path}: the id {twins[0]!r} is missing or there twice")
