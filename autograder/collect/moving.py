"""Give students the ids of a roster that came after their first submissions."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.classroom.folder import ClassFolder
from autograder.collect.incoming import CollectError
from autograder.collect.roster import Roster, Student
from autograder.collect.shelf import SHELF, Place, Record
from autograder.collect.words import folder_name


def moves_of(
    folder: ClassFolder, known: Mapping[str, str], roster: Roster
) -> dict[str, str]:
    """Return which students, named by themselves before, are whom of the roster.

    Args:
        folder: the class.
        known: the folder of each number or name that was collected.
        roster: the one that is given now.

    Raises:
        CollectError: if one of them is graded already.
    """
    olds: dict[str, list[str]] = defaultdict(list)
    twins = _namesakes(known)
    for key, old in known.items():
        found = None if old in roster.students else _meant(key, old, roster, twins)
        if found and old not in olds[found.id]:
            olds[found.id].append(old)
    moves = {old[0]: new for new, old in olds.items() if len(old) == 1}
    autograded = folder.root / folder.coursedir.autograded_directory
    graded = [f"{old} is {new}" for old, new in moves.items()
              if (autograded / old).exists()]  # fmt: skip
    if graded:
        raise CollectError(
            "some were graded under other names than the roster's: "
            f"{'; '.join(graded)}. Make a new folder for the class, collect there with "
            "the roster, and grade again"
        )
    return moves


def _namesakes(known: Mapping[str, str]) -> set[str]:
    """Return the folders of whom only a platform's number told apart."""
    bare = {}
    for key, old in known.items():
        number = folder_name(key.partition(":")[2])
        bare[old] = old.removesuffix(f"-{number}")
    names = list(bare.values())
    return {old for old, name in bare.items() if names.count(name) > 1}


def _meant(key: str, old: str, roster: Roster, twins: set[str]) -> Student | None:
    """Return whom of the roster a number means, or a name as a platform writes it.

    Args:
        key: `canvas:101`, or `name:` and a name's letters.
        old: the folder of this number or name.
        roster: the one that is given now.
        twins: the folders of namesakes, whom no name tells apart.
    """
    platform, _, number = key.partition(":")
    number = "" if platform == "name" else number  # a name is no platform's number
    if one := roster.by_number(number):
        return one
    found = [] if old in twins else roster.by_name([old], platform, number)
    return found[0] if len(found) == 1 else None


def move(folder: ClassFolder, submitted: Path, moves: Mapping[str, str]) -> None:
    """Give each old student's submissions to the new one, and forget the old."""
    for old, new in moves.items():
        for records in sorted((folder.root / SHELF / old).glob("*/submissions.json")):
            slug = records.parent.name
            place = Place(folder.root, submitted, new, slug)
            for one in json.loads(records.read_text(encoding="utf-8")):
                record = Record(**one)
                place.keep(record, (records.parent / record.name).read_bytes())
            place.install()
        for gone in (submitted / old, folder.root / SHELF / old):
            shutil.rmtree(gone, ignore_errors=True)
        with Gradebook(folder.db_url) as book, contextlib.suppress(MissingEntry):
            book.remove_student(old)
