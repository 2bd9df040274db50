"""Run an exercise's hidden checks on a student's code, and return the results.

An exercise may ban a built-in that would be its whole answer. Its checks then run a
second time in a process without the built-in. A check passes only if it passes both
times, so the student's code gains nothing if it detects in which process it runs.
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
    """Provide a student for each exercise, or None if it cannot be provided."""

    def fresh(self, exercise: str) -> GivenStudent:
        """Return a student in a process in which the cells but no checks have run."""

    def still_there(self) -> GivenStudent | None:
        """Return the student of the previous exercise.

        The student is still in the process that ran that exercise's checks.
        """

    def up_to_check(self, exercise: str) -> GivenStudent | None:
        """Return a student for which only the cells before the check have run."""

    def with_reference_answers(self, exercise: str) -> GivenStudent | None:
        """Return the same student, but with the course's earlier answers."""


@dataclass(frozen=True)
class CheckRun:
    """Hold the result of one hidden check.

    `guess` is a mistake that may explain a failure; `points.py` decides whether it
    does. `place` is the student's line that raised an error, and `calls` is how often
    the check called the student's code. If `disqualifies` is True, the exercise earns
    no points.
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

    The checks first run in the process of the previous exercise, because this is
    faster. The previous checks may have changed something there. If a check fails, all
    checks therefore run again in a new process, and only this second run counts.
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
    """Run an exercise's checks on its student; without one, return no results."""
    student = student_for(checks[0].marker.exercise)
    return [] if student is None else _run_with_and_without(unit, student, checks)


def _run_with_and_without(
    unit: GradedUnit, given: GivenStudent, checks: Sequence[HiddenCheck]
) -> list[CheckRun]:
    """Run checks, and run those that pass again without the banned built-ins."""
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
    """Run checks in order, and return their results and the student, if any.

    If the student's process ends during a check, the later checks do not run.
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
        StudentGone: if the student's process ended, in this check or in an earlier one.
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
