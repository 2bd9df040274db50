"""Extract the messages of a released notebook, and insert their translations.

Cells, ids, points and checks do not change. The grader therefore treats submissions in
all languages in the same way.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.course import ENGLISH, LANGUAGE_KEY
from autograder.translations import code, markdown
from autograder.translations.catalogue import LANGUAGE, Message
from autograder.unit import CHECK_SUFFIX, is_graded_code

SHARED = ("setup", "hand-in")  # grade ids of the cells that are in all notebooks
UNIT = "@unit@"  # the placeholder for a unit's slug in their messages
FACTS = re.compile(r"about \d+ minutes · [\d.]+ points")
EXPLAINED_IN = 'explain_errors("{}")'  # in the set-up cell
COMMENT = re.compile(r"# (.+)")
# The data in every notebook, each with the pattern of its values.
PATTERNS = {
    "Unit {number} of {last}": re.compile(r"Unit 0?(?P<number>\d+) of (?P<last>\d+)"),
    "about {minutes} minutes": re.compile(r"about (?P<minutes>\d+) minutes"),
    "{points} points": re.compile(r"(?P<points>[\d.]+) points"),
    "[Read the chapter]({address})": re.compile(
        r"\[Read the chapter\]\((?P<address>\S+)\)"
    ),
    "[Open this notebook in Colab]({address})": re.compile(
        r"\[Open this notebook in Colab\]\((?P<address>\S+)\)"
    ),
}


def grade_id(cell: NotebookNode) -> str:
    """Return nbgrader's name for a cell, or ""."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def exercise_name(grade_id: str) -> str:
    """Return an exercise's name in the form used in a list of contents."""
    return grade_id.removesuffix(CHECK_SUFFIX).replace("-", " ").capitalize()


def messages(notebook: NotebookNode) -> Iterator[Message]:
    """Yield the messages of a unit's catalogue: paragraphs, checks and docstrings."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for text in markdown.messages(cell.source):
                if not FACTS.search(text):
                    yield Message(text, "text")
        elif grade_id(cell) not in SHARED:
            for one in code.words_of(cell.source):
                if _is_ours(cell, one.kind):
                    yield Message(one.text, one.kind)


def shared_messages(notebook: NotebookNode, slug: str) -> Iterator[Message]:
    """Yield the messages that all notebooks share, such as those of the set-up cell."""
    yield from (Message(text, "facts") for text in PATTERNS)
    for cell in notebook.cells:
        if grade_id(cell) in SHARED:
            comment = COMMENT.match(cell.source)
            if comment:
                yield Message(comment[1].replace(slug, UNIT), "comment")
            for one in code.words_of(cell.source):
                yield Message(one.text.replace(slug, UNIT), one.kind)


def _is_ours(cell: NotebookNode, kind: str) -> bool:
    """Return whether text is for the student and not a demo's output."""
    return kind.startswith("docstring") or is_graded_code(cell) or _is_read_only(cell)


def _is_read_only(cell: NotebookNode) -> bool:
    """Return whether a cell contains the course's own code, which may raise errors."""
    details = cell.metadata.get("nbgrader", {})
    return bool(details.get("locked")) and not details.get("solution")


def translated(
    notebook: NotebookNode, slug: str, own: dict[str, str], shared: dict[str, str]
) -> NotebookNode:
    """Return a released notebook with the translations from two catalogues.

    Args:
        notebook: the English notebook, which is not changed.
        slug: the unit's slug.
        own: the unit's translations.
        shared: the translations of messages that all notebooks share.
    """
    made = copy.deepcopy(notebook)
    made.metadata[LANGUAGE_KEY] = LANGUAGE

    def fixed(text: str) -> str | None:
        found = shared.get(text.replace(slug, UNIT))
        return None if found is None else found.replace(UNIT, slug)

    def of_unit(text: str) -> str | None:
        if shared and FACTS.search(text):
            return " · ".join(_fact(part, shared) for part in text.split(" · "))
        return own.get(text)

    for cell in made.cells:
        before = cell.source
        if cell.cell_type == "markdown":
            cell.source = _to_itself(markdown.translated(cell.source, of_unit), slug)
        elif grade_id(cell) in SHARED:
            cell.source = _first_comment(code.translated(cell.source, fixed), fixed)
            cell.source = cell.source.replace(
                EXPLAINED_IN.format(ENGLISH), EXPLAINED_IN.format(LANGUAGE)
            )
        else:
            cell.source = code.translated(cell.source, of_unit, partial(_is_ours, cell))
        own_data = cell.metadata.get("nbgrader", {})
        if cell.source != before and "checksum" in own_data:
            own_data["checksum"] = compute_checksum(cell)
    return made


def _fact(text: str, shared: Mapping[str, str]) -> str:
    """Translate one line of data, such as "about 60 minutes"."""
    for template, pattern in PATTERNS.items():
        if match := pattern.fullmatch(text):
            return shared.get(template, template).format(**match.groupdict())
    return text


def _to_itself(source: str, slug: str) -> str:
    """Change the links to Colab and to the chapter so that they use this language."""
    source = source.replace(f"/assignments/{slug}/", f"/assignments/{LANGUAGE}/{slug}/")
    return source.replace(f"/{slug}.html", f"/{LANGUAGE}/{slug}.html")


def _first_comment(source: str, translate: Callable[[str], str | None]) -> str:
    first, newline, rest = source.partition("\n")
    comment = COMMENT.fullmatch(first)
    new = translate(comment[1]) if comment else None
    return source if new is None else f"# {new}{newline}{rest}"
