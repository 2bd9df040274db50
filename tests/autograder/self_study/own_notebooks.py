"""Notebooks of unit 04: a right one, and notebooks made from it."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course import load_course

COURSE = load_course()
SCALED = "return query @ key.transpose(-2, -1) / math.sqrt(d_k)"
UNSCALED = "return query @ key.transpose(-2, -1)"


def answers(unit: str = "04") -> str:
    """Return the text of a unit's answer notebook."""
    return COURSE.answer_notebook(COURSE.unit(unit)).read_text(encoding="utf-8")


def with_cell(notebook: str, source: str, place: int = 3) -> str:
    """Return a notebook's text with one more code cell."""
    content = json.loads(notebook)
    cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": []}
    content["cells"].insert(place, {**cell, "execution_count": None, "source": source})
    return json.dumps(content)


def changed(old: str, new: str) -> str:
    """Return the answers with one place changed.

    Raises:
        ValueError: if the answers do not contain this place.
    """
    text = answers()
    if old not in text:
        raise ValueError(f"the answers of unit 04 have no {old!r}")
    return text.replace(old, new)


def write(folder: Path, text: str, name: str = "04_attention.ipynb") -> Path:
    """Write a notebook."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
