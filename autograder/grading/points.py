"""Where a submission's points are decided: checks → points → caps → score.

`hidden_checks.py` says which checks there are and what each is worth; here they are run
(`run_checks`), what happened becomes points (`_result`), some points are taken away
again (the caps), and what is left is added up (`score_of`).
"""

import inspect
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from autograder.checking.failures import CheckFailed, StudentError, StudentGone
from autograder.checking.random_inputs import Draw
from autograder.grading.hidden_checks import HiddenCheck, checks_with_points
from autograder.sandbox.student import Student
from autograder.unit import GradedUnit

Status = Literal["passed", "failed", "not run"]
NOT_WRITTEN = "This exercise is not written yet."
NOT_FORESEEN = "What your code returned is not of the kind that the exercise asks for."
ONLY_READ = "This counts as soon as another check of the exercise passes."
NOTHING_RUN = "Not run: the grader had a problem; tell your instructor."


class Students(Protocol):
    """Give each exercise a student to look at."""

    def fresh(self, exercise: str) -> AbstractContextManager[Student]:
        """Return a context manager whose value is the exercise's student."""


@dataclass(frozen=True)
class CheckResult:
    """What one hidden check gave.

    `message` says what was wrong, `hint` what to look at again; both are for the
    student. `mistake` is the phrase that names a recognised mistake.
    """

    exercise: str
    name: str
    title: str
    share: float
    points: float
    max_points: float
    status: Status
    message: str = ""
    hint: str = ""
    mistake: str | None = None


# Checks: run them, exercise by exercise.


def run_checks(
    unit: GradedUnit,
    students: Students,
    student_id: str,
    seed: int = 0,
    only: Collection[str] | None = None,
    unwritten: Collection[str] = (),
) -> list[CheckResult]:
    """Run every hidden check of `unit`, exercise by exercise.

    Args:
        unit: where the checks are and how many points each exercise has.
        students: gives each exercise its student; every `Student` does.
        student_id: seeds the draws together with the unit and the check's name.
        seed: another number to draw by; 0 when grading.
        only: the exercises to look at; None = all of them.
        unwritten: exercises known to be as they were handed out: they earn nothing.

    Returns:
        One result for each check, in the order of the notebook, whatever happens.
    """
    checks = checks_with_points(unit)
    results = []
    for exercise in unit.points:
        if only is not None and exercise not in only:
            continue
        own = [check for check in checks if check.marker.exercise == exercise]
        if exercise in unwritten:
            results += [_result(check, "failed", NOT_WRITTEN) for check in own]
        else:
            results += _run_exercise(unit, students, own, student_id, seed)
    return results


def _run_exercise(
    unit: GradedUnit,
    students: Students,
    checks: list[HiddenCheck],
    student_id: str,
    seed: int,
) -> list[CheckResult]:
    """Run an exercise's checks; those behind one that ends the student are not run."""
    ran: list[tuple[CheckResult, int]] = []  # and how often it called student's code
    not_run: list[CheckResult] = []
    try:
        with students.fresh(checks[0].marker.exercise) as student:
            for check in checks:
                draw = Draw(unit.slug, student_id, check.name, seed)
                ran.append((_run_check(check, student, draw), student.calls))
    except StudentGone as gone:
        words = f"Not run: {gone.reason}."
        not_run = [_result(check, "not run", words) for check in checks[len(ran) :]]
    return [*_cap_what_only_read(ran), *not_run]


def _run_check(check: HiddenCheck, student: Student, draw: Draw) -> CheckResult:
    """Run one check.

    Raises:
        StudentGone: if there is no student any more, for this check or another one.
    """
    fixtures: dict[str, Any] = {"student": student, "draw": draw}
    asked = inspect.signature(check.function).parameters
    student.begin(draw.seed)
    try:
        check.function(**{name: fixtures[name] for name in asked})
    except CheckFailed as failed:
        return _result(check, "failed", failed.message, failed.mistake)
    except StudentError as error:
        return _result(check, "failed", error.message)
    except StudentGone:
        raise
    except Exception:  # what came back was of a kind that the check did not foresee
        return _result(check, "failed", NOT_FORESEEN)
    return _result(check, "passed")


# Points: all of a check's, or none.


def _result(
    check: HiddenCheck, status: Status, message: str = "", mistake: str | None = None
) -> CheckResult:
    marker = check.marker
    return CheckResult(
        exercise=marker.exercise,
        name=check.name,
        title=marker.title,
        share=marker.share,
        points=check.max_points if status == "passed" else 0.0,
        max_points=check.max_points,
        status=status,
        message=message,
        hint="" if status == "passed" else marker.hint,
        mistake=mistake,
    )


def nothing_run(unit: GradedUnit) -> list[CheckResult]:
    """Return the results of a submission that the grader could not run: no points."""
    return [
        replace(_result(check, "not run", NOTHING_RUN), hint="")
        for check in checks_with_points(unit)
    ]


# Caps: points that do not count after all.


def _cap_what_only_read(ran: list[tuple[CheckResult, int]]) -> list[CheckResult]:
    """Give a check that only read the source its points where the code also works.

    Args:
        ran: the results of one exercise, each with the number of calls it has made.
    """
    works = any(result.status == "passed" and calls > 0 for result, calls in ran)
    return [
        replace(result, status="failed", points=0.0, message=ONLY_READ)
        if result.status == "passed" and calls == 0 and not works
        else result
        for result, calls in ran
    ]


def cap_at(points: float, results: Sequence[CheckResult]) -> list[CheckResult]:
    """Take all points away if checks give more than the graded cell carries.

    nbgrader refuses such a score.
    """
    if score_of(results) <= points:
        return list(results)
    return [replace(result, points=0.0) for result in results]


# Score: the sum.


def score_of(results: Sequence[CheckResult]) -> float:
    """Return the points that checks earned together, never more than they carry."""
    earned = round(sum(result.points for result in results), 2)
    return min(earned, max_score_of(results))


def max_score_of(results: Sequence[CheckResult]) -> float:
    """Return the points that there are for these checks."""
    return round(sum(result.max_points for result in results), 2)


def scores_of(results: Sequence[CheckResult]) -> dict[str, float]:
    """Return each exercise's score, in the order of the notebook."""
    exercises = dict.fromkeys(result.exercise for result in results)
    return {
        exercise: score_of([r for r in results if r.exercise == exercise])
        for exercise in exercises
    }
