"""Give students the ids of a roster that was added after their first submissions."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment

from autograder.classroom.folder import ClassFolder
from autograder.collect.incoming import CollectError
from autograder.collect.name_cleaning import folder_name
from autograder.collect.roster import Roster, Student
from autograder.collect.submission_store import STORE, Record, SubmissionStore


def moves_of(
    folder: ClassFolder, known: Mapping[str, str], roster: Roster
) -> dict[str, str]:
    """For each student with a known name or number, return the id in the roster.

    Args:
        folder: the class.
        known: maps each number or name from earlier submissions to the student's
            folder.
        roster: the new roster.

    Raises:
        CollectError: if one of these students is already graded.
    """
    olds: dict[str, list[str]] = defaultdict(list)
    twins = _namesakes(known)
    for key, old in known.items():
        found = None if old in roster.students else _meant(key, old, roster, twins)
        if found and old not in olds[found.id]:
            olds[found.id].append(old)
    moves = {old[0]: new for new, old in olds.items() if len(old) == 1}
    graded = [f"{old} is {new}" for old, new in moves.items()
              if is_graded(folder, old)]  # fmt: skip
    if graded:
        raise CollectError(
            "some were graded under other names than the roster's: "
            f"{'; '.join(graded)}. Make a new folder for the class, collect there with "
            "the roster, and grade again"
        )
    return moves


def is_graded(folder: ClassFolder, student: str) -> bool:
    """Return whether any work of a student has been graded."""
    autograded = folder.root / folder.coursedir.autograded_directory
    return (autograded / student).exists()


def _namesakes(known: Mapping[str, str]) -> set[str]:
    """Return the folders of students who differ only in a platform's number."""
    bare = {}
    for key, old in known.items():
        number = folder_name(key.partition(":")[2])
        bare[old] = old.removesuffix(f"-{number}")
    names = list(bare.values())
    return {old for old, name in bare.items() if names.count(name) > 1}


def _meant(key: str, old: str, roster: Roster, twins: set[str]) -> Student | None:
    """Return the student in the roster who has this number or name, or None.

    Args:
        key: `canvas:101`, or `name:` and the letters of a name.
        old: the folder of this number or name.
        roster: the new roster.
        twins: the folders of students who have the same name as another student.
    """
    platform, _, written = key.partition(":")
    number = written if platform == "canvas" else ""
    found = roster.by_number(number)
    if platform == "gradescope":
        found = roster.by_key(written)
    if not found and old not in twins:
        found = roster.by_name([old.replace("-", " ")], platform, number)
    return found[0] if len(found) == 1 else None


def move(folder: ClassFolder, submitted: Path, moves: Mapping[str, str]) -> None:
    """Move all data from each old student id to the new one, and delete the old one."""
    for old, new in moves.items():
        for own in sorted((submitted / old).glob("*/")):
            SubmissionStore(folder.root, submitted, old, own.name).keep_what_is_there()
        for records in sorted((folder.root / STORE / old).glob("*/submissions.json")):
            slug = records.parent.name
            place = SubmissionStore(folder.root, submitted, new, slug)
            for one in json.loads(records.read_text(encoding="utf-8")):
                record = Record(**one)
                place.keep(record, (records.parent / record.name).read_bytes())
            place.install()
        for home in (submitted, folder.root / STORE):
            if not _are_one_folder(home / old, home / new):
                shutil.rmtree(home / old, ignore_errors=True)
        with folder.open_gradebook() as book, contextlib.suppress(MissingEntry):
            _move_in_gradebook(book, old, new)


def _are_one_folder(one: Path, other: Path) -> bool:
    """Return whether two paths are the same folder, as `Ada` and `ada` can be."""
    return one.exists() and other.exists() and one.samefile(other)


def _move_in_gradebook(book: Gradebook, old: str, new: str) -> None:
    """Move extensions and points to another student, and delete the first student.

    Raises:
        MissingEntry: if the first student is not in the gradebook.
    """
    before = book.find_student(old)
    after = book.update_or_create_student(new)
    has = [one.assignment_id for one in after.submissions]
    theirs = book.db.query(SubmittedAssignment).filter_by(student_id=before.id)
    free = theirs.filter(SubmittedAssignment.assignment_id.not_in(has))
    free.update({"student_id": after.id}, synchronize_session=False)
    book.db.commit()
    book.db.expire_all()
    book.remove_student(old)
