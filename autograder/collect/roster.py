"""Know the students: from a CSV file, or from the gradebook."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.incoming import CollectError
from autograder.collect.names import folder_name, letters

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
}
NOT_STUDENTS = ("points possible", "student, test")


@dataclass(frozen=True)
class Student:
    """One student: the folder's name, and what is known beside it."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""

    def details(self) -> dict[str, str]:
        """Return what the gradebook has columns for."""
        found = {
            "first_name": self.first,
            "last_name": self.last,
            "email": self.email,
            "lms_user_id": self.lms,
        }
        return {key: value for key, value in found.items() if value}

    def forms(self) -> Iterator[str]:
        """Yield every way to write the name, as letters alone."""
        words = f"{self.first} {self.last}".split()
        for cut in range(len(words)):
            yield letters("".join(words[cut:] + words[:cut]))
        yield letters(f"{self.last}{self.first}")
        yield letters(self.id)
        yield letters(self.email.partition("@")[0])


class Roster:
    """Find students by number or name."""

    def __init__(self, students: Iterable[Student]) -> None:
        """Keep the students by their ids, and by everything that names one alone."""
        self.students = {student.id: student for student in students}
        self._by_lms = {s.lms: s for s in self.students.values() if s.lms}
        self._by_form: dict[str, set[str]] = {}
        for student in self.students.values():
            for form in filter(None, student.forms()):
                self._by_form.setdefault(form, set()).add(student.id)

    def find(self, people: Iterable[str], lms: str = "") -> Student | None:
        """Find the student whom a number or a name means, and nobody else."""
        if lms in self._by_lms:
            return self._by_lms[lms]
        for person in people:
            found = self._by_form.get(letters(person), set())
            if len(found) == 1:
                student = self.students[next(iter(found))]
                if not (lms and student.lms):  # else the number would have matched
                    return student
        return None


def read_roster(path: Path) -> Roster:
    """Read a CSV file with a heading: nbgrader's, or one that a platform exports.

    Raises:
        CollectError: if it has no column that names students.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CollectError(f"{path}: {error}") from None
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    rows = list(csv.DictReader(io.StringIO(text), delimiter=separator))
    columns = _columns(list(rows[0]) if rows else first.split(separator))
    if not {"id", "name", "email"} & set(columns) and "last" not in columns:
        raise CollectError(
            f"{path}: expected a heading with id, first_name, last_name, email and "
            f"lms_user_id, or some of them; found {first.strip()}"
        )
    cells = [{key: (row[name] or "").strip() for key, name in columns.items()}
             for row in rows]  # fmt: skip
    students = [_student(one) for one in cells if _is_student(one)]
    _refuse_twins(path, students)
    return Roster(students)


def _columns(names: list[str]) -> dict[str, str]:
    """Return which column holds what.

    In a file of Canvas, `ID` is Canvas's number, and the login is the student's.
    """
    plain = {name.strip().casefold(): name for name in names if name}
    found = {}
    for key, known in COLUMNS.items():
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


def _student(row: dict[str, str]) -> Student:
    first, last = row.get("first", ""), row.get("last", "")
    name = row.get("name", "")
    if not (first or last) and "," in name:
        last, first = (part.strip() for part in name.split(",", 1))
    elif not (first or last):
        first, _, last = name.rpartition(" ")
    email = row.get("email", "")
    given = row.get("id") or email.partition("@")[0] or f"{first} {last}"
    safe = given if re.fullmatch(r"\w[\w.@-]*", given) else folder_name(given)
    return Student(safe, first, last, email, row.get("lms", ""))


def _refuse_twins(path: Path, students: list[Student]) -> None:
    ids = [student.id for student in students]
    twins = sorted({one for one in ids if not one or ids.count(one) > 1})
    if twins:
        raise CollectError(f"{path}: the id {twins[0]!r} is missing or there twice")
