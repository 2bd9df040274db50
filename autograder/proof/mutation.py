"""Run a unit's hidden checks on mechanical mutants of its answers."""

import contextlib
import signal
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

import nbformat

from autograder.course import Course, Unit
from autograder.grading.hidden_checks import checks_with_points
from autograder.grading.running import run_exercise
from autograder.proof.judging import answer_cells
from autograder.proof.mutants import Mutant, make_mutants
from autograder.sandbox import LocalStudent
from autograder.sandbox.in_process import NeverReturns
from autograder.unit import GradedUnit, graded_unit

SECONDS = 10  # if a mutant takes longer, assume that it never ends


@dataclass(frozen=True)
class MutantVerdict:
    """Hold the verdict of the checks on one mutant.

    Attributes:
        exercise: the exercise whose answer was changed.
        change: the change.
        killed: whether a check failed.
        why: why the mutant is equivalent to the answer, according to `equivalent.toml`,
            or "".
    """

    exercise: str
    change: str
    killed: bool
    why: str = ""


def mutate_unit(course: Course, unit: Unit) -> list[MutantVerdict]:
    """Judge every mechanical mutant of a unit's answers."""
    graded = graded_unit(unit.slug, course.root)
    cells = answer_cells(course, unit)
    notebook = nbformat.read(course.answer_notebook(unit), as_version=4)
    reasons = equivalents(course).get(unit.slug, {})
    return [
        MutantVerdict(
            cell.id,
            mutant.change,
            is_killed(graded, cell.id, swap(cells, cell.source, mutant)),
            reasons.get(f"{cell.id}: {mutant.change}", ""),
        )
        for cell in notebook.cells
        if cell.id in graded.points
        for mutant in make_mutants(cell.source)
    ]


def swap(cells: list[str], answer: str, mutant: Mutant) -> list[str]:
    """Return the cells with the answer replaced by a mutant."""
    return [mutant.source if cell == answer else cell for cell in cells]


def is_killed(unit: GradedUnit, exercise: str, cells: list[str]) -> bool:
    """Return whether a check of the exercise fails or never ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with time_limit(SECONDS):
                student = LocalStudent(cells)
                return any(
                    run.status != "passed"
                    for check in checks_with_points(unit)
                    if check.marker.exercise == exercise
                    for run in run_exercise(unit, student.fresh, [check])
                )
        except NeverReturns:
            return True


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise NeverReturns in the `with` block if it takes longer than `seconds`."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise NeverReturns

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def equivalents(course: Course) -> dict[str, dict[str, str]]:
    """Return, for each unit, why surviving mutants are equivalent to the answer."""
    path = course.root / "autograder" / "proof" / "variants" / "equivalent.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
