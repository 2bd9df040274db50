"""Find filled-in tables whose marks have not been imported into the gradebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.classroom.folder import ClassFolder
from autograder.grading.outputs import safe_text
from autograder.unit import GradedUnit
from autograder.written.filled_in import Mark, kept_comments, read_tables
from autograder.written.marks_table import code_of, given_by_hand
from autograder.written.rubric import Rubric


def untaken(
    folder: ClassFolder,
    unit: GradedUnit,
    rubrics: Sequence[Rubric],
    paths: Iterable[Path],
) -> list[Path]:
    """Return the tables with marks that the gradebook does not contain.

    Raises:
        MarksError: if the named comments of the class cannot be read.
    """
    kept = kept_comments(folder)
    given = given_by_hand(folder, unit.slug)
    given |= {code_of(unit.slug, who): own for who, own in given.items()}
    return [
        path
        for path in paths
        if path.is_file() and _holds_more(path, kept, rubrics, given)
    ]


def _holds_more(
    path: Path,
    kept: Mapping[str, str],
    rubrics: Sequence[Rubric],
    given: Mapping[str, Mapping[str, tuple[str, str]]],
) -> bool:
    """Return whether a table has marks that were not imported or cannot be read."""
    marks, faults = read_tables([path], kept, rubrics)
    return bool(faults) or any(
        _is_new(mark, *given.get(mark.student, {}).get(mark.question, ("", "")))
        for mark in marks
    )


def _is_new(mark: Mark, points: str, comment: str) -> bool:
    has_points = mark.points is not None
    differs = has_points and (not points or float(points) != round(mark.points or 0, 2))
    return differs or bool(mark.comment and _words(mark.comment) != _words(comment))


def _words(text: str) -> list[str]:
    return safe_text(text).split()
