"""Run known answers through the visible checks of a unit's notebook."""

import contextlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Course, Unit
from autograder.proof.judging import exercise_of, numbers_of, proof_of
from autograder.proof.variants.registry import Variant
from autograder.proof.variants.substitution import substitute
from autograder.sandbox.student_side.side_effects import usual_settings
from autograder.unit import course_of


@dataclass(frozen=True)
class VisibleVerdict:
    """What a visible check says of an answer.

    Attributes:
        slug: the unit.
        exercise: the exercise whose answer the variant replaces.
        variant: the variant.
        error: what the check or the answer raised; None if all passed.
    """

    slug: str
    exercise: str
    variant: Variant
    error: Exception | None

    @property
    def is_explained(self) -> bool:
        """Say whether the check failed with words of its own."""
        return isinstance(self.error, AssertionError) and bool(str(self.error))


@cache
def visible_cells(slug: str, root: Path) -> dict[str, str]:
    """Return the code cells of a unit's answer notebook by their id; no demos."""
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
        variant: takes the place of the answer that it replaces.

    Raises:
        Exception: what a cell raises; an AssertionError is usually the check's.
    """
    cells = visible_cells(unit.slug, course.root)
    check = f"{exercise}-check"
    before = list(cells)[: list(cells).index(check)]
    sources = [cells[name] for name in before if not name.endswith("-check")]
    if variant is not None:
        sources = substitute(sources, variant)
    usual_settings()
    space: dict[str, Any] = {}
    for source in [*sources, cells[check]]:
        exec(source, space)


def judge_visible(
    course: Course, units: Iterable[Unit], only: str = ""
) -> Iterator[VisibleVerdict]:
    """Run the visible check of each variant of units.

    With `only`, those whose exercise or description it is a part of.
    """
    for unit in units:
        proof = proof_of(unit.slug, course.root)
        for number in numbers_of(proof, only):
            variant = proof.variants[number]
            exercise, error = exercise_of(proof.graded, variant), None
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    run_visible_check(course, unit, exercise, variant)
            except Exception as raised:
                error = raised
            yield VisibleVerdict(unit.slug, exercise, variant, error)
    usual_settings()
