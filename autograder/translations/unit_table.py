"""Write the table of units for a README in any of the course's languages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.course import ENGLISH, Course, Unit
from autograder.translations.catalogue import translations

README = "README.po"
PUBLISHED = "published.po"  # the README of the students' repository
PAGES = "LC_MESSAGES"  # the folder for the book's pages
RULE = "|---|---|---|---|"


def locale_of(course: Course, language: str) -> Path:
    """Return the folder of a language's catalogues."""
    return course.root / "book" / "locale" / language


def told_in_readme(course: Course, language: str) -> Callable[[str], str]:
    """Return a function that translates the sentences of a README into a language."""
    locale, table = locale_of(course, language), dict[str, str]()
    if language != ENGLISH:
        table = translations(locale / README) | translations(locale / PUBLISHED)
    return lambda text: table.get(text, text)


def unit_table(
    course: Course,
    units: Sequence[Unit],
    language: str = ENGLISH,
    published: bool = False,
) -> str:
    """Return the table with the columns unit, chapter, notebook and Colab.

    Args:
        course: the course.
        units: the units in the rows.
        language: the language of the words and of the linked notebooks.
        published: whether the table is for the students' repository, where each unit
            has only one notebook, in whatever language.
    """
    told = told_in_readme(course, language)
    rows = [told("| unit | chapter | notebook | Colab |"), RULE]
    edition = ENGLISH if published else language
    for unit in units:
        title = title_of(course, unit, language)
        if (course.root / "book" / f"{unit.slug}.md").is_file():
            title = f"[{title}](book/{unit.slug}.md)"
        notebook = colab = ""
        if published or course.master(unit).is_file():
            place = course.notebook(unit, edition).relative_to(course.root).as_posix()
            notebook = f"[{told('notebook')}]({place})"
            colab = course.colab_link(unit, told("open in Colab"), edition)
        cells = (f"{unit.number:02}", title, notebook, colab)
        rows.append(f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|")
    return "\n".join(rows)


def title_of(course: Course, unit: Unit, language: str) -> str:
    """Return a unit's title in a language, from the heading of its chapter."""
    if language == ENGLISH:
        return unit.title
    path = locale_of(course, language) / PAGES / f"{unit.slug}.po"
    return translations(path).get(unit.title, unit.title)
