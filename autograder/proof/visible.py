"""Run the visible checks of a unit's notebook on known answers."""

import contextlib
import io
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Course, Unit
from autograder.explained_errors import explanation
from autograder.proof.judging import exercise_of, numbers_of, proof_of
from autograder.proof.mutants import Mutant, mutants_by
from autograder.proof.slips import slips
from autograder.proof.variants.registry import Variant
from autograder.proof.variants.substitution import substitute
from autograder.sandbox.student_side.side_effects import usual_settings
from autograder.unit import course_of


@dataclass(frozen=True)
class VisibleVerdict:
    """Hold the verdict of a visible check on an answer.

    Attributes:
        slug: the unit.
        exercise: the exercise whose answer the variant replaces.
        variant: the variant that was run.
        error: the error that the check or the answer raised, or None.
        said: the explanation that the notebook prints above the error, or "".
    """

    slug: str
    exercise: str
    variant: Variant | Mutant
    error: Exception | None
    said: str = ""

    @property
    def is_explained(self) -> bool:
        """Return whether the notebook prints a sentence that explains the cause."""
        in_words = isinstance(self.error, AssertionError) and bool(str(self.error))
        return in_words or bool(self.said)


@cache
def visible_cells(slug: str, root: Path) -> dict[str, str]:
    """Return an answer notebook's code cells by their ids, without the demos."""
    course = course_of(root)
    path = course.answer_notebook(course.unit(slug))
    cells = nbformat.read(path, as_version=4).cells
    return {
        cell.id: cell.source
        for cell in cells
        if cell.cell_type == "code"
        and not {"demo", "setup"}.intersection(cell.metadata.get("tags", []))
    }


def run_visible_check(
    course: Course, unit: Unit, exercise: str, variant: Variant | None = None
) -> None:
    """Run the cells up to an exercise's visible check, without the other checks.

    Args:
        course: the course.
        unit: the unit.
        exercise: the exercise.
        variant: the variant that replaces the answer.

    Raises:
        Exception: the error of a cell; an AssertionError usually comes from the check.
    """
    sources = _sources(course, unit, exercise)
    _run(sources if variant is None else substitute(sources, variant), {})


def _sources(course: Course, unit: Unit, exercise: str) -> list[str]:
    """Return the cells up to an exercise's visible check, without the other checks."""
    cells = visible_cells(unit.slug, course.root)
    names = list(cells)[: list(cells).index(f"{exercise}-check") + 1]
    others = [name for name in names[:-1] if not name.endswith("-check")]
    return [cells[name] for name in (*others, names[-1])]


def _run(sources: Iterable[str], space: dict[str, Any]) -> None:
    """Run cells in the namespace `space` so that tracebacks can quote their lines."""
    usual_settings()
    for number, source in enumerate(sources):
        name = f"<visible cell {number}>"
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)
        exec(compile(source, name, "exec"), space)


def _try(
    sources: Iterable[str],
) -> tuple[Exception | None, str]:
    """Run cells, and return their error and the notebook's explanation of it."""
    space: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            _run(sources, space)
    except Exception as error:
        return error, explanation(error, space, {})
    return None, ""


def judge_visible(
    course: Course, units: Iterable[Unit], only: str = ""
) -> Iterator[VisibleVerdict]:
    """Run the visible check of each variant of units.

    With `only`, run only the variants whose exercise or description contains it.
    """
    for unit in units:
        proof = proof_of(unit.slug, course.root)
        for number in numbers_of(proof, only):
            variant = proof.variants[number]
            exercise = exercise_of(proof.graded, variant)
            tried = _try(substitute(_sources(course, unit, exercise), variant))
            yield VisibleVerdict(unit.slug, exercise, variant, *tried)
    usual_settings()


def judge_slips(course: Course, unit: Unit) -> Iterator[VisibleVerdict]:
    """Run the visible check on each answer with a small error; see `slips.py`."""
    cells = visible_cells(unit.slug, course.root)
    for exercise in proof_of(unit.slug, course.root).graded.points:
        answer, sources = cells.get(exercise, ""), _sources(course, unit, exercise)
        for slip in mutants_by(slips, answer, range(1, answer.count("\n") + 2)):
            tried = _try(slip.source if one == answer else one for one in sources)
            yield VisibleVerdict(unit.slug, exercise, slip, *tried)
    usual_settings()
