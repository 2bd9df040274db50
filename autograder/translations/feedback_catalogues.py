"""Read the translations of all comments that the grader makes on a submission."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from autograder.translations.catalogue import translations
from autograder.unit import course_of

FEEDBACK, NOTEBOOKS = "feedback", "notebooks"
CHECKING, GRADER = f"{FEEDBACK}/checking.po", f"{FEEDBACK}/grader.po"
PAGES_OF_GRADER = f"{FEEDBACK}/pages.po"
ERRORS = f"{NOTEBOOKS}/errors.po"  # explanations of Python errors


@functools.lru_cache(maxsize=64)
def feedback_table(root: Path, language: str, slug: str) -> Mapping[str, str]:
    """Return the translations of all text about a unit's submissions."""
    folder = course_of(root).root / "book" / "locale" / language
    table: dict[str, str] = {}
    for name in (f"{FEEDBACK}/{slug}.po", CHECKING, GRADER, PAGES_OF_GRADER, ERRORS):
        table = translations(folder / name) | table
    return table
