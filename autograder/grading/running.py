"""Run an exercise's hidden checks on a student's code, and return the results.

An exercise may ban a built-in that would be its whole answer. Its checks then run a
second time, in a process in which the built-in is missing. A check passes if it passes
in both. The student's code may find out where it runs, and gains nothing by that.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from autograder.checking.expect import banned_call, expect_no_call
from autograder.checking.failures import (
    BannedCall,
    CheckFailed,
    StudentError,
    StudentGone,
)
from autograder.checking.random_inputs import Draw
from autograder.grading.hidden_checks import HiddenCheck, fixtures_of
from autograder.phrases import Phrase
from autograder.sandbox.submission_proxy import SubmissionProxy
from autograder.unit import GradedUnit

Status = Literal["passed", "failed", "not run"]
GivenStudent = AbstractContextManager[SubmissionProxy]
NOT_FORESEEN = Phrase(
    "What your code returned is not of the kind that the exercise asks for."
)


class Students(Protocol):
    """Give each exercise a student to look at; None where there is no such student."""

    def fresh(self, exercise: str) -> GivenStudent:
        """Return the student of a process in which all cells have run, and no check."""

    def still_there(self) -> GivenStudent | None:
        """Return the student of the exercise before, where it was checked."""

    def up_to_check(self, exercise: str) -> GivenStudent | None:
        """Return the student of a process with the cells before its check."""

    def with_reference_answers(self, exercise: str) -> GivenStudent | None:
        """Return that student with the course's answers of the exercises before."""


@dataclass(frozen=True)
class CheckRun:
    """What happened to one hidden check, and how often it called student's code.

    A `guess` would explain a failure; `points.py` decides whether it does. `place` is
    the student's line that raised an error. One that `disqualifies` takes all of its
    exercise's points away.
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

    They run in the process of the exercise before, where its checks may have spoiled
    something. If one fails there, all run again in a new process, and this run counts.
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
    """Run an exercise's checks on its student; nothing if there is no such student."""
    student = student_for(checks[0].marker.exercise)
    return [] if student is None else _run_with_and_without(unit, student, checks)


def _run_with_and_without(
    unit: GradedUnit, given: GivenStudent, checks: Sequence[HiddenCheck]
) -> list[CheckRun]:
    """Run checks, and those that pass again where what they ban is missing."""
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
    """Run checks one after the other; also return the student, if there was one.

    The checks behind one that ends the student are not run.
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
        StudentGone: if there is no student any more, for this check or another one.
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
    except Exception:  # what came back was of a kind that the check did not foresee
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
