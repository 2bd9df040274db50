"""Read the written answers of a class, and the texts that all students received."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import nbformat

from autograder.classroom.folder import ClassFolder
from autograder.course import Course
from autograder.grading.language import translated_notebooks
from autograder.translations.catalogue import translations
from autograder.translations.sources import PAGES, locale_dir
from autograder.unit import GradedUnit
from autograder.written.own_words import HandedOut
from autograder.written.substance import Answer

PASTED = re.compile(r"\]\(data:image/")  # the form that Colab uses
CHAPTER = "[0-9][0-9]_*"
Cells = list[dict[str, Any]]


def handed_out_in(course: Course, unit: GradedUnit) -> HandedOut:
    """Return the texts that all students have: the unit's notebook and all chapters.

    The texts are in all languages, because a Korean answer may also be copied from
    English text.
    """
    chapters = sorted((course.root / "book").glob(f"{CHAPTER}.md"))
    translated = sorted(locale_dir(course).glob(f"{PAGES}/{CHAPTER}.po"))
    return HandedOut(
        [
            *_cells_handed_out(unit),
            *(path.read_text(encoding="utf-8") for path in chapters),
            *("\n\n".join(translations(path).values()) for path in translated),
        ]
    )


def _cells_handed_out(unit: GradedUnit) -> list[str]:
    """Return the cells of a unit's notebook in all languages."""
    notebooks = [unit.released]
    notebooks += [
        nbformat.read(path, as_version=4) for path in translated_notebooks(unit)
    ]
    return [cell.source for notebook in notebooks for cell in notebook.cells]


def answers_to(
    folder: ClassFolder,
    unit: GradedUnit,
    students: Sequence[str],
    questions: Iterable[str],
) -> dict[str, dict[str, Answer]]:
    """Return the answers to each question by student, from the graded notebooks.

    Students without a graded notebook are left out.
    """
    ours = set(_cells_handed_out(unit))
    found: dict[str, dict[str, Answer]] = {question: {} for question in questions}
    for student in students:
        path = folder.autograded(student, unit.slug) / f"{unit.slug}.ipynb"
        cells = _cells(path)
        if not cells:
            continue
        own = dict(_written(cells, ours))
        source = _source(folder, student, unit.slug)
        for question, answers in found.items():
            text, has_picture = own.get(question, ("", False))
            answers[student] = Answer(text, has_picture, source)
    return found


def _cells(path: Path) -> Cells:
    try:
        return json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return []


def _written(cells: Cells, ours: set[str]) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield each question and its answer: its cell and the student's cells below.

    The answer to a task is all text below the task.
    """
    task, of_task = "", []
    for number, cell in enumerate(cells):
        told = cell.get("metadata", {}).get("nbgrader", {})
        if told.get("task"):
            task = told["grade_id"]
        elif told.get("solution") and told.get("grade"):
            below = takewhile(lambda one: _is_own(one, ours), cells[number + 1 :])
            yield told["grade_id"], _joined([cell, *below], ours)
        elif task and _is_own(cell, ours):
            of_task.append(cell)
    if task:
        yield task, _joined(of_task, ours)


def _is_own(cell: Mapping[str, Any], ours: set[str]) -> bool:
    """Return whether a cell is a text cell that the student added."""
    is_text = cell["cell_type"] == "markdown" and not cell["metadata"].get("nbgrader")
    return is_text and "".join(cell["source"]) not in ours


def _joined(cells: Cells, ours: set[str]) -> tuple[str, bool]:
    """Return the text of cells without stubs, and whether there is an image."""
    texts = ["".join(cell["source"]) for cell in cells]
    written = [text for text in texts if text not in ours] or texts
    has_picture = any(cell.get("attachments") for cell in cells)
    return "\n\n".join(written), has_picture or any(map(PASTED.search, written))


def _source(folder: ClassFolder, student: str, slug: str) -> str:
    """Return the name of a submitted file, which is the same for a whole team."""
    path = folder.root / "collected" / student / slug / "submissions.json"
    try:
        records: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    latest = max(records, key=lambda one: (one.get("file") or 0, one["when"]))
    return f"{latest['sha256']} {latest['source']}"
