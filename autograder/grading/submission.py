"""Grade one repaired submission: run it in children, check it, write the scores in."""

import contextlib
import time
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from autograder.grading.earlier_exercises import point_to_earlier
from autograder.grading.feedback_table import graded_outputs, score_of
from autograder.grading.outputs import safe_outputs
from autograder.grading.points import CheckResult, checks_with_points, run_checks
from autograder.repair import Repaired
from autograder.sandbox.isolated import CellRun, RemoteStudents
from autograder.sandbox.kit import folder_files, label_of, warm_kit
from autograder.sandbox.limits import Limits
from autograder.sandbox.parent_line import NoParent
from autograder.sandbox.warm_parent import WarmParent
from autograder.unit import (
    CHECK_SUFFIX,
    GradedUnit,
    cells_to_run,
    is_graded_code,
    is_run,
)

ATTEMPTS = 2


@dataclass
class Graded:
    """What grading one submission gave.

    Attributes:
        results: every check's result, in the order of the notebook.
        runs: what each executed cell printed; in the order of `cells_to_run`.
        limits_hit: which limits were hit, where.
        seconds: how long it took.
        problem: why nothing could be run, if it could not: a fault of the grader's.
    """

    results: list[CheckResult]
    runs: list[CellRun] = field(default_factory=list)
    limits_hit: list[str] = field(default_factory=list)
    seconds: float = 0.0
    problem: str | None = None

    @property
    def score(self) -> float:
        """Return the points of all checks."""
        return score_of(self.results)

    @property
    def max_score(self) -> float:
        """Return the points that there are for checks."""
        return round(sum(result.max_points for result in self.results), 2)


def grade(
    unit: GradedUnit,
    repaired: Repaired,
    student_id: str,
    parent: WarmParent,
    limits: Limits | None = None,
    seed: int = 0,
) -> Graded:
    """Run the hidden checks of `unit` on a repaired submission.

    Whatever happens, every check has a result; what was not run has no points. A parent
    that is lost is started anew, and the submission begun once more.
    """
    started = time.monotonic()
    cells, files = cells_to_run(repaired.notebook), folder_files(unit.kit)
    problem = ""
    for _ in range(ATTEMPTS):
        students = RemoteStudents(parent, cells, files, limits)
        try:
            warm_up(unit, files, parent)
            results = run_checks(
                unit, students, student_id, seed, unwritten=repaired.unwritten
            )
            results = point_to_earlier(results, repaired.notebook)
            graded = Graded(results, students.runs, students.limits_hit)
            break
        except NoParent as error:
            problem = str(error)
            with contextlib.suppress(NoParent):  # else the next attempt says so
                parent.restart()
    else:
        graded = not_run(unit, problem)
    graded.seconds = time.monotonic() - started
    return graded


def warm_up(unit: GradedUnit, files: dict[str, bytes], parent: WarmParent) -> None:
    """Have the parent import what every submission of a unit imports."""
    if parent.kit != label_of(files):
        parent.warm(warm_kit(unit.kit, cells_to_run(unit.released), files))


def not_run(unit: GradedUnit, problem: str) -> Graded:
    """Return results in which nothing was run and nothing earned."""
    results = [
        CheckResult(
            exercise=check.marker.exercise,
            name=check.name,
            title=check.marker.title,
            share=check.marker.share,
            points=0.0,
            max_points=check.max_points,
            status="not run",
            message="Not run: the grader had a problem; tell your instructor.",
        )
        for check in checks_with_points(unit)
    ]
    return Graded(results, problem=problem)


def write_results(notebook: NotebookNode, graded: Graded) -> None:
    """Write scores, reports and outputs into the cells of a repaired notebook.

    Every graded cell gets exactly our outputs: no output would mean full marks.
    """
    runs = iter(graded.runs)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        if is_graded_code(cell):
            exercise = cell.metadata.nbgrader.grade_id.removesuffix(CHECK_SUFFIX)
            own = [r for r in graded.results if r.exercise == exercise]
            points = float(cell.metadata.nbgrader.points)
            cell.outputs = graded_outputs(_capped(own, points))
        elif is_run(cell):
            run = next(runs, None)
            cell.outputs = safe_outputs(run) if run is not None else []


def _capped(results: list[CheckResult], points: float) -> list[CheckResult]:
    """Take points away if checks carry more than the cell: nbgrader refuses that."""
    if score_of(results) <= points:
        return results
    return [replace(result, points=0.0) for result in results]
