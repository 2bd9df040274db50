"""Where a submission's points are decided: checks → points → caps → score.

`hidden_checks.py` says which checks there are and what each is worth. `run_checks` goes
through an exercise's checks, pays for what passed, and caps what was paid; `score_of`
adds it up. What is late loses points afterwards, by nbgrader's late penalty.
"""

import inspect
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from autograder.checking.failures import (
    BannedCall,
    CheckFailed,
    StudentError,
    StudentGone,
)
from autograder.checking.random_inputs import Draw
from autograder.grading.hidden_checks import HiddenCheck, checks_with_points
from autograder.sandbox.student import Student
from autograder.unit import GradedUnit

Status = Literal["passed", "failed", "not run"]
NOT_WRITTEN = "This exercise is not written yet."
NOT_FORESEEN = "What your code returned is not of the kind that the exercise asks for."
ONLY_READ = "This counts as soon as another check of the exercise passes."
NOT_WRITTEN_BY_YOU = (
    "Does not count: this exercise uses what you were asked to write yourself; see "
    "“{title}”."
)
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


@dataclass(frozen=True)
class Ran:
    """What happened to one hidden check, and how often it called student's code.

    One that `forfeits` takes all of its exercise's points away.
    """

    check: HiddenCheck
    status: Status
    message: str = ""
    mistake: str | None = None
    calls: int = 0
    forfeits: bool = False


def run_checks(
    unit: GradedUnit,
    students: Students,
    student_id: str,
    seed: int = 0,
    only: Collection[str] | None = None,
    unwritten: Collection[str] = (),
) -> list[CheckResult]:
    """Run every hidden check of `unit`, exercise by exercise, and pay for it.

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
    for exercise, carried in unit.points.items():
        if only is not None and exercise not in only:
            continue
        own = [check for check in checks if check.marker.exercise == exercise]
        if exercise in unwritten:
            ran = [Ran(check, "failed", NOT_WRITTEN) for check in own]
        else:
            ran = _run_exercise(unit, students, own, student_id, seed)
        paid = [_pay(one) for one in ran]
        counted = _nothing_if_banned(ran, _unless_it_only_read(ran, paid))
        results += _nothing_above(carried, counted)
    return results


# Checks


def _run_exercise(
    unit: GradedUnit,
    students: Students,
    checks: list[HiddenCheck],
    student_id: str,
    seed: int,
) -> list[Ran]:
    """Run an exercise's checks; those behind one that ends the student are not run."""
    ran: list[Ran] = []
    try:
        with students.fresh(checks[0].marker.exercise) as student:
            for check in checks:
                draw = Draw(unit.slug, student_id, check.name, seed)
                ran.append(_run_check(check, student, draw))
    except StudentGone as gone:
        words = f"Not run: {gone.reason}."
        ran += [Ran(check, "not run", words) for check in checks[len(ran) :]]
    return ran


def _run_check(check: HiddenCheck, student: Student, draw: Draw) -> Ran:
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
        forfeits = isinstance(failed, BannedCall)
        words = failed.message
        return Ran(check, "failed", words, failed.mistake, forfeits=forfeits)
    except StudentError as error:
        return Ran(check, "failed", error.message)
    except StudentGone:
        raise
    except Exception:  # what came back was of a kind that the check did not foresee
        return Ran(check, "failed", NOT_FORESEEN)
    return Ran(check, "passed", calls=student.calls)


# Points: all of a check's, or none.


def _pay(ran: Ran) -> CheckResult:
    marker, passed = ran.check.marker, ran.status == "passed"
    return CheckResult(
        exercise=marker.exercise,
        name=ran.check.name,
        title=marker.title,
        share=marker.share,
        points=ran.check.max_points if passed else 0.0,
        max_points=ran.check.max_points,
        status=ran.status,
        message=ran.message,
        hint="" if passed else marker.hint,
        mistake=ran.mistake,
    )


def nothing_run(unit: GradedUnit) -> list[CheckResult]:
    """Return the results of a submission that the grader could not run: no points."""
    return [
        replace(_pay(Ran(check, "not run", NOTHING_RUN)), hint="")
        for check in checks_with_points(unit)
    ]


# Caps: points that do not count after all.


def _unless_it_only_read(
    ran: Sequence[Ran], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Pay a check that only read the source where the code also works, else nothing."""
    works = any(one.status == "passed" and one.calls > 0 for one in ran)
    return [
        replace(result, status="failed", points=0.0, message=ONLY_READ)
        if one.status == "passed" and one.calls == 0 and not works
        else result
        for one, result in zip(ran, paid, strict=True)
    ]


def _nothing_if_banned(
    ran: Sequence[Ran], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Pay nothing for an exercise that uses what is banned: it would be the answer."""
    titles = [one.check.marker.title for one in ran if one.forfeits]
    if not titles:
        return list(paid)
    words = NOT_WRITTEN_BY_YOU.format(title=titles[0])
    return [
        replace(result, status="failed", points=0.0, message=words)
        if result.status == "passed"
        else result
        for result in paid
    ]


def _nothing_above(carried: float, paid: Sequence[CheckResult]) -> list[CheckResult]:
    """Pay nothing if the checks give more than the graded cell carries.

    nbgrader refuses such a score.
    """
    if score_of(paid) <= carried:
        return list(paid)
    return [replace(result, points=0.0) for result in paid]


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
