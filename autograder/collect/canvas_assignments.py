"""Store the assignment columns of a Canvas gradebook export and find a unit's column.

Canvas imports scores into the assignment whose name is the heading of the column. If
there is no such assignment, Canvas creates one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.collect.name_cleaning import letters
from autograder.collect.submission_store import STORE
from autograder.course import Unit

FILE = "canvas-assignments.json"
HEADING = re.compile(r"(?P<name>.+\S)\s*\(\d+\)", re.DOTALL)  # Canvas adds its number
NUMBER = re.compile(r"(?:unit\s*)?0*(\d+)(?![^\W_])", re.IGNORECASE)


def keep_assignments(root: Path, headings: Iterable[str]) -> None:
    """Save the assignment headings of a Canvas export, if it has any."""
    if found := [one for one in headings if HEADING.fullmatch(one)]:
        text = json.dumps(found, ensure_ascii=False, indent=1)
        atomic_write(root / STORE / FILE, f"{text}\n".encode())


def kept_assignments(root: Path) -> list[str]:
    """Return the saved headings, or an empty list if the file is missing or damaged."""
    try:
        found = json.loads((root / STORE / FILE).read_text(encoding="utf-8"))
        return [one for one in found if HEADING.fullmatch(one)]
    except (OSError, ValueError, TypeError):
        return []


def columns_of(unit: Unit, headings: Iterable[str], titles: Iterable[str]) -> list[str]:
    """Return the headings that name a unit: more than one if the choice is ambiguous.

    A heading names the unit if it is the slug or a title, with or without the unit's
    number before it. If there is no such heading, every heading that starts with the
    unit's number counts.

    Args:
        unit: the unit.
        headings: the headings of a Canvas export.
        titles: the unit's titles in each language.
    """
    titles = [unit.slug, unit.topic, unit.title, *titles]
    words = {letters(title) for title in titles}
    by_title, by_number = [], []
    for heading in headings:
        name = heading[: heading.rindex("(")].strip()
        number = NUMBER.match(name)
        rest = name[number.end() :] if number else name
        if number and int(number[1]) != unit.number:
            continue
        if {letters(name), letters(rest)} & words:
            by_title.append(heading)
        elif number:
            by_number.append(heading)
    return by_title or by_number
