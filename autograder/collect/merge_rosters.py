"""Match the students of a new roster with those of the old roster.

An instructor may start with a roster from the registrar and later use Moodle's
worksheet, which gives the same people other ids. Without matching, each of them would
become two students.
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
    "section": "section",
}  # maps a heading of the stored roster to a field of `Student`


@dataclass(frozen=True)
class Joined:
    """Hold a new roster to which missing data were added from the old one.

    Attributes:
        roster: the students, with the ids that are valid from now on.
        moves: maps an old id to the new id, for students who get the new roster's id.
        graded: maps an old id to the new id, for graded students, who keep the old id.
        logins: maps an id to the new login, for students whose login has changed.
    """

    roster: Roster
    moves: Mapping[str, str]
    graded: Mapping[str, str]
    logins: Mapping[str, str]


def join(given: Roster, before: Roster, is_graded: Callable[[str], bool]) -> Joined:
    """Add data from the old roster where the new roster has none.

    Students who are not in the new roster are removed. Fields without a column in the
    new roster keep their old values. The new roster's id replaces the old one only if
    the instructor assigned it.

    Args:
        given: the new roster.
        before: the roster that was used last.
        is_graded: returns whether a student is already graded and must therefore keep
            the id.
    """
    same = _same(given, before)
    students = []
    moves: dict[str, str] = {}
    graded: dict[str, str] = {}
    logins: dict[str, str] = {}
    kept = 0
    for one in given.students.values():
        if old := same.get(one.id):
            unsaid = set(FIELDS.values()) - _said(given.columns) - {"id"}
            new = replace(one, **{field: getattr(old, field) for field in unsaid})
            is_same_id = fold_id(old.id) == fold_id(one.id)
            if one.has_own_id and not is_same_id:
                (graded if is_graded(old.id) else moves)[old.id] = one.id
            kept += is_same_id
            if not (one.has_own_id or is_same_id):
                logins[old.id] = one.id
            stays = old.id in graded or not one.has_own_id or is_same_id
            students.append(replace(new, id=old.id) if stays else new)
        else:
            students.append(one)
    columns = given.columns | before.columns
    roster = Roster(students, is_given=True, columns=columns)
    # If most ids differ, they are of another kind, such as Moodle's instead of
    # Canvas's.
    return Joined(roster, moves, graded, logins if len(logins) < kept else {})


def as_csv(roster: Roster) -> bytes:
    """Return a roster as a CSV file with all known fields."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(FIELDS)
    for student in roster.students.values():
        table.writerow(getattr(student, field) for field in FIELDS.values())
    return text.getvalue().encode()


def _said(columns: Iterable[str]) -> set[str]:
    return {*columns, "first", "last"} if "name" in columns else set(columns)


def _same(given: Roster, before: Roster) -> dict[str, Student]:
    """For each id in the new roster, return the old student if the match is certain.

    Students match by id, then by the platform's number, and then by address. Names
    count only for students without an instructor's id in the new roster, or if no id
    occurs in both rosters.
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
    """Return the students by number, address or name, if nobody else has it."""
    found = defaultdict(list)
    for student in roster.students.values():
        found[key(student)].append(student)
    return {value: students[0] for value, students in found.items()
            if value and len(students) == 1}  # fmt: skip


def _may_be(old: Student, new: Student) -> bool:
    """Return True if neither a number nor an address distinguishes two namesakes."""
    told = ((key(old), key(new)) for key in (_number, _address))
    return not any(one and other for one, other in told)
