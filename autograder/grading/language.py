"""Detect the language of the notebook that a student filled in."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import LANGUAGE_KEY, ROOT, TRANSLATIONS
from autograder.repair import SubmittedCell
from autograder.repair.slots import squeezed
from autograder.unit import GradedUnit


def translated_notebooks(unit: GradedUnit) -> Iterator[Path]:
    """Yield the paths of a unit's released notebooks that are not in English."""
    for language in TRANSLATIONS:
        for folder in (unit.kit.parent, ROOT / "assignments"):
            path = folder / language / unit.slug / f"{unit.slug}.ipynb"
            if path.is_file():
                yield path
                break


def in_language_of(unit: GradedUnit, cells: Sequence[SubmittedCell]) -> GradedUnit:
    """Return the unit with the released notebook of the submission's language.

    This is the released notebook with the most cells that also occur in the submission.
    If two languages have equally many, it is the English notebook. The notebooks in all
    languages have the same exercises and points.
    """
    given = {squeezed(cell.source) for cell in cells}
    others = [
        _read(path, path.stat().st_mtime_ns) for path in translated_notebooks(unit)
    ]
    notebooks = [unit.released, *others]
    released = max(notebooks, key=lambda notebook: _kept(notebook, given))
    return unit if released is unit.released else replace(unit, released=released)


def language_of(notebook: NotebookNode) -> str | None:
    """Return the language of a translated notebook, or None if it is English."""
    found = notebook.metadata.get(LANGUAGE_KEY)
    return found if found in TRANSLATIONS else None


def _kept(notebook: NotebookNode, given: set[str]) -> int:
    return len({squeezed(cell.source) for cell in notebook.cells} & given)


@functools.lru_cache(maxsize=32)
def _read(path: Path, changed: int) -> NotebookNode:
    return nbformat.read(path, as_version=4)
