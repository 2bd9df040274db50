"""Run an exercise's hidden checks on a student's code, and return the results.

`expect_no_call` watches the calls of the student's code. Such code could detect the
watch and do something else in that check only. So if a watching check fails and finds
no banned call, the checks that passed unwatched must pass while watched, too.
"""

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

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
    exercise's points away. `watched` says that it looked at what the code runs.
    """

    check: HiddenCheck
    status: Status
    message: str = ""
    mistake: str | None = None
    guess: str | None = None
    place: str = ""
    calls: int = 0
    disqualifies: bool = False
    watched: bool = False


def run_as_handed_in(
    unit: GradedUnit, students: Students, checks: Sequence[HiddenCheck]
) -> list[CheckRun]:
    """Run an exercise's checks after all cells.

    They run in the process of the exercise before, where its checks may have spoiled
    something. If one fails there, all run again in a new process, and this run counts.
    """
    there = students.still_there()
    if there is not None:
        runs = _run_in_turn(unit, there, checks)
        if all(one.status == "passed" for one in runs):
            return runs
    return run_exercise(unit, students.fresh, checks)


def run_exercise(
    unit: GradedUnit,
    student_for: Callable[[str], GivenStudent | None],
    checks: Sequence[HiddenCheck],
) -> list[CheckRun]:
    """Run an exercise's checks on its student; nothing if there is no such student.

    The checks behind one that ends the student are not run. If one fails that watches,
    the others must pass while watched.
    """
    exercise = checks[0].marker.exercise
    student = student_for(exercise)
    runs = [] if student is None else _run_in_turn(unit, student, checks)
    passed = [one.check for one in runs if one.status == "passed"]
    anew = student_for(exercise) if passed and any(map(_fails_watched, runs)) else None
    if anew is None:
        return runs
    again = _run_in_turn(unit, anew, passed, watched=True)
    worse = {one.check.name: one for one in again if one.status != "passed"}
    return [worse.get(one.check.name, one) for one in runs]


def _fails_watched(run: CheckRun) -> bool:
    """Say whether a check failed that watches, and found nothing banned."""
    return run.watched and run.status != "passed" and not run.disqualifies


def _run_in_turn(
    unit: GradedUnit,
    given: GivenStudent,
    checks: Sequence[HiddenCheck],
    watched: bool = False,
) -> list[CheckRun]:
    """Run checks one after the other; the watch is on all of them if `watched`."""
    runs: list[CheckRun] = []
    was_watched = False
    try:
        with given as student:
            for check in checks:
                draw = Draw(unit.slug, check.name, unit.draw_number)
                try:
                    with student.watched() if watched else contextlib.nullcontext():
                        runs.append(_run_check(check, student, draw))
                finally:
                    was_watched = student.was_watched
    except StudentGone as gone:
        words = Phrase("Not run: {reason}.", gone.reason)
        left = checks[len(runs) :]
        runs += [CheckRun(one, "not run", words, watched=was_watched) for one in left]
    return runs


def _run_check(check: HiddenCheck, student: SubmissionProxy, draw: Draw) -> CheckRun:
    """Run one check.

    Raises:
        StudentGone: if there is no student any more, for this check or another one.
    """
    fixtures: dict[str, Any] = {"student": student, "draw": draw}
    student.begin(draw.seed)
    try:
        check.function(**{name: fixtures[name] for name in fixtures_of(check.function)})
    except CheckFailed as failed:
        return CheckRun(
            check,
            "failed",
            failed.message,
            failed.mistake,
            failed.guess,
            failed.place,
            disqualifies=isinstance(failed, BannedCall),
            watched=student.was_watched,
        )
    except StudentError as error:
        return CheckRun(
            check,
            "failed",
            error.message,
            place=error.place,
            watched=student.was_watched,
        )
    except StudentGone:
        raise
    except Exception:  # what came back was of a kind that the check did not foresee
        return CheckRun(check, "failed", NOT_FORESEEN)
    return CheckRun(check, "passed", calls=student.calls)
