"""Translate the released notebook of a unit with the translation catalogues.

The translated notebook uses the same kit as the English notebook.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import TRANSLATIONS, Course, Unit
from autograder.translations.catalogue import translations
from autograder.translations.notebooks import translated
from autograder.translations.sources import NOTEBOOKS, SHARED, unit_catalogue


def has_translation(course: Course, language: str) -> bool:
    """Return whether the course has translation catalogues for a language."""
    return (course.root / "book" / "locale" / language / NOTEBOOKS).is_dir()


def in_language(
    course: Course, unit: Unit, notebook: NotebookNode, language: str
) -> NotebookNode:
    """Return a unit's notebook, translated with the catalogues of a language."""
    locale = course.root / "book" / "locale" / language
    own = translations(locale / unit_catalogue(NOTEBOOKS, unit))
    return translated(notebook, unit.slug, own, translations(locale / SHARED))


def translate_release(course: Course, unit: Unit, folder: Path) -> None:
    """Write a unit's notebook in every language of the course.

    Args:
        course: the course.
        unit: the unit.
        folder: a folder with the same layout as the course's folder, which contains the
            English release.
    """
    english = folder / course.release_notebook(unit).relative_to(course.root)
    for language in TRANSLATIONS:
        if has_translation(course, language):
            path = course.translated_notebook(unit, language)
            made = folder / path.relative_to(course.root)
            made.parent.mkdir(parents=True, exist_ok=True)
            _write(course, unit, english, made, language)


def translate_submissions(
    course: Course, unit: Unit, folder: Path, language: str
) -> None:
    """Translate the submissions in `folder`/STUDENT/UNIT into another language."""
    for path in sorted(folder.glob(f"*/{unit.slug}/{unit.slug}.ipynb")):
        _write(course, unit, path, path, language)


def _write(
    course: Course, unit: Unit, source: Path, target: Path, language: str
) -> None:
    notebook = nbformat.read(source, as_version=4)
    made = in_language(course, unit, notebook, language)
    target.write_text(nbformat.writes(made) + "\n", "utf-8", newline="\n")
