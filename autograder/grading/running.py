"""Run an exercise's hidden checks on a student's code, and return the results.

An exercise may ban a built-in that would be its whole answer. Its checks then run a
second time, in a process without the built-in, and a check passes only if it passes
both times. The student's code may detect which process it is in, but gains nothing from
that.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from autograder.checking.expect import banned_call, expect_no_call
from autograder.checking.failures import (
    BannedCall,
    CheckFailed,
    StudentError,
    StudentGone,
)
from autograder.checking.random_inputs import Draw
from autograder.grading.check_results import Status
from autograder.grading.hidden_checks import HiddenCheck, fixtures_of
from autograder.phrases import Phrase
from autograder.sandbox.submission_proxy import SubmissionProxy
from autograder.unit import GradedUnit

GivenStudent = AbstractContextManager[SubmissionProxy]
NOT_FORESEEN = Phrase("Your code returned a value of the wrong type for this exercise.")


class Students(Protocol):
    """Provide a student for each exercise, or None if there is no such student."""

    def fresh(self, exercise: str) -> GivenStudent:
        """Return the student of a process in which only the cells have run."""

    def still_there(self) -> GivenStudent | None:
        """Return the previous exercise's student, in the process of its checks."""

    def up_to_check(self, exercise: str) -> GivenStudent | None:
        """Return the student of a process with the cells before its check."""

    def with_reference_answers(self, exercise: str) -> GivenStudent | None:
        """Return that student with the course's answers to the exercises before."""


@dataclass(frozen=True)
class CheckRun:
    """The result of one hidden check, and how often it called the student's code.

    A `guess` may explain a failure, and `points.py` decides whether it does. `place` is
    the student's line that raised an error. A result that `disqualifies` removes all
    points of its exercise.
    """

    check: HiddenCheck
    status: Status
    message: str = ""
    mistake: str | None = None
    guess: str | None = None
    place: str = ""
    calls: int = 0
    disqualifies: bool = False


def run_as_handed_in(
    unit: GradedUnit, students: Students, checks: Sequence[HiddenCheck]
) -> list[CheckRun]:
    """Run an exercise's checks after all cells.

    They run in the process of the previous exercise, whose checks may have changed
    something. If a check fails there, all checks run again in a new process, and only
    this second run counts.
    """
    there = students.still_there()
    if there is not None:
        runs = _run_with_and_without(unit, there, checks)
        if all(one.status == "passed" for one in runs):
            return runs
    return run_exercise(unit, students.fresh, checks)


def run_exercise(
    unit: GradedUnit,
    student_for: Callable[[str], GivenStudent | None],
    checks: Sequence[HiddenCheck],
) -> list[CheckRun]:
    """Run an exercise's checks on its student; return no results without a student."""
    student = student_for(checks[0].marker.exercise)
    return [] if student is None else _run_with_and_without(unit, student, checks)


def _run_with_and_without(
    unit: GradedUnit, given: GivenStudent, checks: Sequence[HiddenCheck]
) -> list[CheckRun]:
    """Run checks, and repeat those that pass without the banned built-ins."""
    runs, student = _run_in_turn(unit, given, checks)
    for check in checks:
        passed = [one.check for one in runs if one.status == "passed"]
        if student is None or check.marker.bans is None or not passed:
            continue
        name, banned = check.marker.bans
        missing = student.without(banned)
        if missing is None:
            continue
        again, without = _run_in_turn(unit, missing, passed)
        worse = {
            one.check.name: _said_without(banned[0], one)
            for one in again
            if one.status != "passed"
        }
        if without is not None and without.removed:
            worse[check.name] = _failed(check, banned_call(name, without.removed))
        runs = [worse.get(one.check.name, one) for one in runs]
    return runs


def _run_in_turn(
    unit: GradedUnit, given: GivenStudent, checks: Sequence[HiddenCheck]
) -> tuple[list[CheckRun], SubmissionProxy | None]:
    """Run checks in order and return their results and the student, if there was one.

    If a check ends the student's process, the checks after it do not run.
    """
    runs: list[CheckRun] = []
    student: SubmissionProxy | None = None
    try:
        with given as student:
            for check in checks:
                draw = Draw(unit.slug, check.name, unit.draw_number)
                runs.append(_run_check(check, student, draw))
    except StudentGone as gone:
        words = Phrase("Not run: {reason}.", gone.reason)
        runs += [CheckRun(one, "not run", words) for one in checks[len(runs) :]]
    return runs, student


def _run_check(check: HiddenCheck, student: SubmissionProxy, draw: Draw) -> CheckRun:
    """Run one check.

    Raises:
        StudentGone: if the student's process ended, in this check or another.
    """
    fixtures: dict[str, Any] = {"student": student, "draw": draw}
    student.begin(draw.seed)
    try:
        if check.marker.bans is not None:
            expect_no_call(student, *check.marker.bans)
        check.function(**{name: fixtures[name] for name in fixtures_of(check.function)})
    except CheckFailed as failed:
        return _failed(check, failed)
    except StudentError as error:
        return CheckRun(check, "failed", error.message, place=error.place)
    except StudentGone:
        raise
    except Exception:  # the check did not expect this type of result
        return CheckRun(check, "failed", NOT_FORESEEN)
    return CheckRun(check, "passed", calls=student.calls)


def _said_without(banned: str, run: CheckRun) -> CheckRun:
    words = Phrase(
        "Without {built_in}, which this exercise does not allow: {message}",
        banned,
        run.message,
    )
    return replace(run, message=words)


def _failed(check: HiddenCheck, failed: CheckFailed) -> CheckRun:
    return CheckRun(
        check,
        "failed",
        failed.message,
        failed.mistake,
        failed.guess,
        failed.place,
        disqualifies=isinstance(failed, BannedCall),
    )
