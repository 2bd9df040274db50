"""Tell who of a new roster is whom of the one before it.

An instructor has a roster of the registrar's, and gives Moodle's worksheet later: the
same people, under other ids. Without this each would be two students.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from autograder.collect.name_cleaning import fold_id, letters
from autograder.collect.roster import Roster, Student

FIELDS = {
    "id": "id",
    "first_name": "first",
    "last_name": "last",
    "email": "email",
    "lms_user_id": "lms",
    "team": "team",
    "identifier": "participant",
    "github": "github",
}  # the heading of the roster that is kept, and what stands below it


@dataclass(frozen=True)
class Joined:
    """A new roster, with what the one before it knows of the same students.

    Attributes:
        roster: the students, by the ids that hold from now on.
        moves: students who get the new roster's id.
        graded: students who keep the id that they are graded under, and the new one.
    """

    roster: Roster
    moves: Mapping[str, str]
    graded: Mapping[str, str]


def join(given: Roster, before: Roster, is_graded: Callable[[str], bool]) -> Joined:
    """Join a new roster to the one before it.

    Who is not in the new one is in the roster no more. What the new one has no column
    for stays as it was. An id of a platform's, or of an address or a name, gives way.

    Args:
        given: the new one.
        before: the one that was given last.
        is_graded: says whether a student is graded already, who then keeps the id.
    """
    same = _same(given, before)
    students = []
    moves: dict[str, str] = {}
    graded: dict[str, str] = {}
    for one in given.students.values():
        if old := same.get(one.id):
            unsaid = set(FIELDS.values()) - _said(given.columns) - {"id"}
            new = replace(one, **{field: getattr(old, field) for field in unsaid})
            is_same_id = fold_id(old.id) == fold_id(one.id)
            if one.has_own_id and not is_same_id:
                (graded if is_graded(old.id) else moves)[old.id] = one.id
            stays = old.id in graded or not one.has_own_id or is_same_id
            students.append(replace(new, id=old.id) if stays else new)
        else:
            students.append(one)
    columns = given.columns | before.columns
    return Joined(Roster(students, is_given=True, columns=columns), moves, graded)


def as_csv(roster: Roster) -> bytes:
    """Return a roster as a file that holds all that is known."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(FIELDS)
    for student in roster.students.values():
        table.writerow(getattr(student, field) for field in FIELDS.values())
    return text.getvalue().encode()


def _said(columns: Iterable[str]) -> set[str]:
    return {*columns, "first", "last"} if "name" in columns else set(columns)


def _same(given: Roster, before: Roster) -> dict[str, Student]:
    """Return whom of the old roster each of the new one is, where that is certain.

    By the id, then by the platform's number and by the address. By the name only for
    whom the new one has no id of the instructor's, or where it has other ids for all.
    """
    olds_by_id = {fold_id(one.id): one for one in before.students.values()}
    pairs = {one: olds_by_id[fold_id(one)] for one in given.students
             if fold_id(one) in olds_by_id}  # fmt: skip
    taken, is_renumbered = {old.id for old in pairs.values()}, not pairs
    for key in (_number, _address, _name):
        olds, news = _single(before, key), _single(given, key)
        for value in olds.keys() & news.keys():
            old, new = olds[value], news[value]
            is_free = new.id not in pairs and old.id not in taken
            by_name = (is_renumbered or not new.has_own_id) and _may_be(old, new)
            if is_free and (by_name if key is _name else True):
                pairs[new.id] = old
                taken.add(old.id)
    return pairs


def _number(student: Student) -> str:
    return student.lms


def _address(student: Student) -> str:
    return (student.email or (student.id if "@" in student.id else "")).casefold()


def _name(student: Student) -> str:
    return letters(f"{student.first}{student.last}")


def _single(roster: Roster, key: Callable[[Student], str]) -> dict[str, Student]:
    """Return the students who alone have their number, address or name."""
    found = defaultdict(list)
    for student in roster.students.values():
        found[key(student)].append(student)
    return {value: students[0] for value, students in found.items()
            if value and len(students) == 1}  # fmt: skip


def _may_be(old: Student, new: Student) -> bool:
    """Say whether nothing that both rosters know tells two of one name apart."""
    told = ((key(old), key(new)) for key in (_number, _address))
    return not any(one and other for one, other in told)
