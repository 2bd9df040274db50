"""The words that the book's own code writes, in the language of the built book.

They are the strings in calls of `said`, and those of the scripts of `book/live/`.
"""

from __future__ import annotations

from pathlib import Path

from autograder.translations.catalogue import translations

CATALOGUE = "book.po"
_table: dict[str, str] = {}


def use(folder: Path) -> list[tuple[str, str]]:
    """Take the words from the catalogue in `folder` from now on, and return them."""
    _table.clear()
    _table.update(translations(folder / CATALOGUE))
    return sorted(_table.items())


def said(english: str) -> str:
    """Return words in the book's language; English where no translation is there."""
    return _table.get(english, english)
