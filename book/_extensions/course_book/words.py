"""Translate the words that the book's own code writes.

They are the strings in calls of `said`, and those in the scripts of `book/live/`.
"""

from __future__ import annotations

from pathlib import Path

from autograder.translations.catalogue import translations

CATALOGUE = "book.po"
_table: dict[str, str] = {}


def use(folder: Path) -> list[tuple[str, str]]:
    """Load the translations from the catalogue in `folder`, and return them."""
    _table.clear()
    _table.update(translations(folder / CATALOGUE))
    return sorted(_table.items())


def said(english: str) -> str:
    """Return the translation of a text, or the English text if there is none."""
    return _table.get(english, english)
