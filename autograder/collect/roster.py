"""Read the students from a CSV file or the gradebook, and find them by their keys."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.folder import ClassFolder
from autograder.collect.incoming import CollectError
from autograder.collect.name_cleaning import (
    family_name_comes_first,
    fold_id,
    folder_name,
    letters,
)
from autograder.collect.submission_store import ROSTER, STORE
from autograder.collect.tables import (
    HEADINGS,
    ID_BY_HAND,
    Table,
    read_table,
    refuse_shortened,
)

LONG_ID = 4  # the shortest id that is recognised among other words
NOT_STUDENTS = ("points possible", "student, test")
NAMING = ("id", "name", "email", "last")  # a roster needs one of these columns
EMAIL, LOGIN, NUMBER = "address", "login", "platform's number"


@dataclass(frozen=True)
class Student:
    """Hold a student's id, which is also the folder name, and other data."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""
    team: str = ""
    participant: str = ""
    github: str = ""
    section: str = ""
    has_own_id: bool = True  # the id is not a platform's, an address or a name
    row: int = field(default=0, compare=False)  # row in the table, counted from 1

    def details(self) -> dict[str, str]:
        """Return the data for which the gradebook has columns."""
        found = {
            "first_name": self.first,
            "last_name": self.last,
            "email": self.email,
            "lms_user_id": self.lms,
        }
        return {key: value for key, value in found.items() if value}

    def forms(self) -> tuple[set[Words], set[Words], set[Words]]:
        """Return the possible orders of the words in the name.

        Returns:
            Three sets: first name first, last name first, and all other forms,
            including the id.
        """
        first, last = words_of(self.first), words_of(self.last)
        both = first + last
        others = {both[cut:] + both[:cut] for cut in range(len(both))}
        others |= {
            words_of(one)
            for one in (self.id, self.email.partition("@")[0], self.github)
        }
        return {both} - {()}, {last + first} - {()}, others - {()}


Words = tuple[str, ...]


def words_of(text: str) -> Words:
    """Return the words of a name in the normal form that `letters` produces."""
    return tuple(filter(None, map(letters, re.split(r"[\s._-]+", text))))


def are_one_name(one: Words, other: Words) -> bool:
    """Return whether two names are equal, where one may have fewer spaces.

    `Kim Minjun` equals `Kim Min Jun`, and `annalee` equals both `Anna Lee` and `Ann
    Alee`. However, `Anna Lee` does not equal `Ann Alee`.
    """
    cuts, others = _cuts(one), _cuts(other)
    return "".join(one) == "".join(other) and (cuts <= others or others <= cuts)


def _cuts(words: Words) -> set[int]:
    """Return the positions of the spaces between the words."""
    lengths = [len(word) for word in words]
    return {sum(lengths[:n]) for n in range(1, len(words))}


class Roster:
    """Find students by number, id, address, login, name or team.

    A key is an id, an address, a login or a platform's number. If a text is the id of
    one student and another key of a second student, the id takes precedence. If several
    students share an address, a login or a number, all of them are returned, because
    the key cannot identify one of them.
    """

    def __init__(
        self,
        students: Iterable[Student],
        is_given: bool = False,
        columns: Iterable[str] = HEADINGS,
    ) -> None:
        """Index the students by their ids and by all other keys.

        Args:
            students: the known students.
            is_given: whether the list comes from the instructor and is therefore
                complete.
            columns: the columns of the file, including empty columns.
        """
        self.is_given, self.columns = is_given, frozenset(columns)
        self.students = {student.id: student for student in students}
        self.warnings: list[str] = []
        self.of_canvas: list[str] = []  # headings of the assignments in a Canvas export
        self._ids: dict[str, list[Student]] = defaultdict(list)
        self._numbers: dict[str, list[Student]] = defaultdict(list)
        self._addresses: dict[str, list[Student]] = defaultdict(list)
        self._logins: dict[str, list[Student]] = defaultdict(list)
        self._teams: dict[str, list[Student]] = defaultdict(list)
        self._forms = tuple(defaultdict[str, list[tuple[Words, Student]]](list)
                            for _ in range(3))  # fmt: skip
        for student in self.students.values():
            for found, key in (
                (self._ids, fold_id(student.id)),
                (self._numbers, student.lms),
                (self._addresses, fold_id(student.email)),
                (self._logins, fold_id(student.github)),
                (self._teams, letters(student.team)),
            ):
                if key:
                    found[key].append(student)
            for by_letters, forms in zip(self._forms, student.forms(), strict=True):
                for form in forms:
                    by_letters["".join(form)].append((form, student))

    def by_number(self, lms: str) -> list[Student]:
        """Return the students with this number on a platform; several may share it."""
        return self._numbers.get(lms, [])

    def by_key(self, text: str) -> list[Student]:
        """Return the student with this id, or else all with this address or login.

        Several students may share an address or a login.
        """
        if text in self.students:
            return [self.students[text]]
        key = fold_id(text)
        if found := self._ids.get(key):
            return found
        both = (*self._addresses.get(key, ()), *self._logins.get(key, ()))
        return list({one.id: one for one in both}.values())

    def by_login(self, text: str) -> list[Student]:
        """Return the students with this login."""
        return self._logins.get(fold_id(text), [])

    def by_address(self, text: str) -> list[Student]:
        """Return the students with this address."""
        return self._addresses.get(fold_id(text), [])

    def keys_in(self, texts: Iterable[str]) -> dict[str, list[Student]]:
        """Return each id, address and login in some texts, with the matching students.

        A short key such as `kim` counts only if it is the whole text, because it may
        also be a name.
        """
        found = {}
        for text in texts:
            words = re.split(r"[\s,;()\[\]_]+", text) + re.split(r"[^\w@.]+|_", text)
            long = (one.strip("-.") for one in words if _is_long_id(one))
            for key in (text.strip(), *long):
                if students := self.by_key(key):
                    found[key] = students
        return found

    def without_keys(self, person: str) -> str:
        """Return a name without the words that are ids."""
        words = person.split()
        keys = {w for w in words if w != person and _is_long_id(w) and self.by_key(w)}
        return " ".join(w for w in words if w not in keys)

    def by_name(
        self, people: Iterable[str], platform: str = "", lms: str = ""
    ) -> list[Student]:
        """Return the students with one of these names; several may have the same name.

        The platform's order of first and last name distinguishes Kim Lee from Lee Kim.
        A student does not match if the roster gives a number other than `lms`.
        """
        first, last, others = self._forms
        order = (last, first, others) if platform == "canvas" else (first, last, others)
        for person in people:
            words = words_of(person)
            for by_letters in order:
                found = {
                    student.id: student
                    for form, student in by_letters.get("".join(words), [])
                    if are_one_name(form, words)
                    and not (lms and student.lms and student.lms != lms)
                }
                if found:
                    return list(found.values())
        return []

    def team(self, people: Iterable[str]) -> list[Student]:
        """Return the members of the team with this name."""
        found = (self._teams.get(letters(person), []) for person in people)
        return next(filter(None, found), [])

    def find(self, people: Iterable[str], lms: str = "") -> Student | None:
        """Return the student with this number or name, or None if not exactly one."""
        found = self.by_number(lms) or self.by_name(people, lms=lms)
        return found[0] if len(found) == 1 else None

    def shared_keys(self) -> Iterator[str]:
        """Yield warnings about keys that rows share or that are another row's id.

        A shared key does not identify a student, and an id takes precedence over other
        keys.
        """
        kinds = (EMAIL, self._addresses), (LOGIN, self._logins)
        for kind, known in (*kinds, (NUMBER, self._numbers)):
            for key, students in known.items():
                if len(students) > 1:
                    yield (
                        f"{_rows(students)} have the same {kind}, {key!r}, so it "
                        "identifies nobody"
                    )
        for kind, known in kinds:
            for key, students in known.items():
                owners = [one for one in self._ids.get(key, []) if one not in students]
                if owners:
                    yield (
                        f"the {kind} of {_rows(students)} is the id of "
                        f"{_rows(owners)}, {key!r}: it means the student with this id"
                    )


def _rows(students: Iterable[Student]) -> str:
    numbers = [str(one.row) for one in students]
    return f"row{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}"


def _is_long_id(word: str) -> bool:
    """Return whether a word among others may be an id; names contain no digits."""
    has_digit = any(one.isdigit() for one in word)
    return len(word) >= LONG_ID and (has_digit or "@" in word)


def read_roster(path: Path) -> Roster:
    """Read a CSV file with a heading, such as nbgrader's or a platform's export.

    Raises:
        CollectError: if no column identifies students, or if two ids are equal except
            for case.
    """
    table = read_table(path)
    if not set(NAMING) & set(table.columns):
        raise CollectError(
            f"{path}: expected a heading with id, first_name, last_name, email and "
            f"lms_user_id, or some of them; found {table.heading}"
        )
    is_by_hand = has_ids_by_hand(table)
    students = []
    for row, cells in table.rows:
        if _is_student(cells):
            for key, column in (("id", "the id"), ("lms", "the number")):
                refuse_shortened(path, row, column, cells.get(key, ""))
            students.append(student_of(cells, is_by_hand, row))
    _refuse_equal_ids(path, students)
    roster = Roster(students, is_given=True, columns=table.columns)
    roster.of_canvas += table.of_canvas
    roster.warnings += filter(None, [table.words_about_unknown()])
    roster.warnings += roster.shared_keys()
    return roster


def has_ids_by_hand(table: Table) -> bool:
    """Return whether the instructor and not a platform assigned the ids."""
    heading = letters(table.columns.get("id", ""))
    return heading in map(letters, ID_BY_HAND.split(";"))


def _is_student(row: dict[str, str]) -> bool:
    name = row.get("name", "").casefold()
    return any(row.values()) and not name.startswith(NOT_STUDENTS)


def student_of(
    row: Mapping[str, str], is_by_hand: bool = True, number: int = 0
) -> Student:
    """Return the student in a row of a table.

    Args:
        row: the cells.
        is_by_hand: whether the instructor chose the ids.
        number: the number of the row.
    """
    first, last = row.get("first", ""), row.get("last", "")
    name = row.get("name", "")
    if not (first or last):
        if "," in name:
            last, first = (part.strip() for part in name.split(",", 1))
        elif family_name_comes_first(name) and _begins_with_family_name(name):
            last, _, first = name.partition(" ")
        else:
            first, _, last = name.rpartition(" ")
    email = row.get("email", "")
    participant = "".join(re.findall(r"\d+$", row.get("participant", "")))
    given = row.get("id") or email.partition("@")[0] or f"{first} {last}"
    is_safe = re.fullmatch(r"[^\W_][\w.@-]*", given)
    return Student(
        unicodedata.normalize("NFC", given) if is_safe else folder_name(given),
        first,
        last,
        email,
        row.get("lms", ""),
        row.get("team", ""),
        participant,
        row.get("github", ""),
        row.get("section", ""),
        has_own_id=is_by_hand and bool(row.get("id")),
        row=number,
    )


def _begins_with_family_name(name: str) -> bool:
    """Return whether the shorter part comes first, as in 김 민준 but not in 민준 김."""
    begin, _, rest = name.partition(" ")
    return len(begin) <= len(rest) or not rest


def _refuse_equal_ids(path: Path, students: list[Student]) -> None:
    """Refuse a row without an id, and ids that are equal or differ only in case."""
    known: dict[str, Student] = {}
    for student in students:
        if not student.id:
            raise CollectError(f"{path}, row {student.row} has no id and no name.")
        other = known.setdefault(fold_id(student.id), student)
        if other is student:
            continue
        rows = f"{path}, rows {other.row} and {student.row}"
        if other.id == student.id:
            raise CollectError(
                f"{rows}: the id {student.id!r} is there twice. Delete one row, or add "
                "a column with ids of your own."
            )
        raise CollectError(
            f"{rows}: the ids {other.id!r} and {student.id!r} differ only in upper and "
            "lower case, which many file systems do not tell apart."
        )


def sections_in(root: Path) -> dict[str, str]:
    """Return each student's section from the roster stored in the class's folder.

    Raises:
        CollectError: if the stored roster is damaged.
    """
    path = root / STORE / ROSTER
    students = read_roster(path).students.values() if path.is_file() else ()
    return {one.id: one.section for one in students}


def students_in_gradebook(folder: ClassFolder) -> Iterator[Student]:
    """Yield the students in the gradebook, or nothing if it does not exist yet."""
    path = folder.db_url.removeprefix("sqlite:///")
    if "sqlite" in folder.db_url and not Path(path).is_file():
        return
    with folder.open_gradebook() as gradebook:
        for one in gradebook.students:
            yield Student(
                one.id,
                one.first_name or "",
                one.last_name or "",
                one.email or "",
                one.lms_user_id or "",
            )
