"""Update the table of units in the README and in its translations."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.course import TRANSLATIONS, Course, CourseError
from autograder.translations import markdown
from autograder.translations.catalogue import translations
from autograder.translations.sources import README
from autograder.translations.unit_table import unit_table

START = "<!-- units: made by `make notebooks` -->"
END = "<!-- end of units -->"
NOTEBOOK = re.compile(r"(?:(?<=\]\()|(?<=lab ))assignments/(\d\d_\w+/\d\d_\w+\.ipynb)")


def write_readme(course: Course) -> bool:
    """Write the table into the README, and return whether the file changed.

    Raises:
        CourseError: if a comment that marks the place of the table is missing.
    """
    path = course.root / "README.md"
    if not path.exists():
        return False
    changed = _write_table(course, path)
    return _write_translations(course, path) or changed


def _write_table(course: Course, path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise CourseError(f"{path} should hold the lines {START!r} and {END!r}")
    made = _with_table(text, unit_table(course, course.units))
    if made == text:
        return False
    path.write_text(made, encoding="utf-8")
    return True


def _with_table(text: str, table: str) -> str:
    head, rest = text.split(START, 1)
    return f"{head}{START}\n{table}\n{END}{rest.split(END, 1)[1]}"


def _write_translations(course: Course, path: Path) -> bool:
    """Write the README in other languages, and return whether one of them changed."""
    changed = False
    for language in TRANSLATIONS:
        table = translations(course.root / "book" / "locale" / language / README)
        target = path.with_name(f"README.{language}.md")
        text = markdown.translated(path.read_text(encoding="utf-8"), table.get)
        text = NOTEBOOK.sub(rf"assignments/{language}/\1", text)
        made = _with_table(text, unit_table(course, course.units, language))
        if table and not (target.is_file() and target.read_text("utf-8") == made):
            target.write_text(made, encoding="utf-8")
            changed = True
    return changed
