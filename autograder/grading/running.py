"""Run an exercise's hidden checks on a student's code, and say what happened.

Exercises are checked in one process, one after the other, as long as they pass. What
does not pass may be the fault of what ran there before, so it runs again where nothing
has: that is what counts.

A check that looks at what the code runs (`expect_no_call`) watches it. Code that looks
for the watch could do something else in that check alone. So where such a check fails
and finds nothing banned, those that passed unwatched must pass while watched, too.
"""

import contextlib
from collections.abc import Sequence
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
from autograder.grading.hidden_checks import HiddenCheck, fixtures_of
from autograder.phrases import Phrase
from autograder.sandbox.student import Student
from autograder.unit import GradedUnit

Status = Literal["passed", "failed", "not run"]
NOT_FORESEEN = Phrase(
    "What your code returned is not of the kind that the exercise asks for."
)


class Students(Protocol):
    """Give each exercise a student to look at."""

    def fresh(
        self, exercise: str, mended: bool = False
    ) -> AbstractContextManager[Student]:
        """Return a context manager whose value is the exercise's student.

        With `mended`, the course's answers of the exercises before it have taken the
        place of the student's.
        """

    def still_there(self) -> AbstractContextManager[Student] | None:
        """Return the student of the exercise before, where it was checked, if there."""


@dataclass(frozen=True)
class Ran:
    """What happened to one hidden check, and how often it called student's code.

    One that `forfeits` takes all of its exercise's points away. `watched` says that it
    looked at what the code runs.
    """

    check: HiddenCheck
    status: Status
    message: str = ""
    mistake: str | None = None
    calls: int = 0
    forfeits: bool = False
    watched: bool = False


# Checks


def run_exercise(
    unit: GradedUnit,
    students: Students,
    checks: Sequence[HiddenCheck],
    mended: bool = False,
) -> list[Ran]:
    """Run an exercise's checks; those behind one that ends the student are not run."""
    exercise = checks[0].marker.exercise
    ran = _run_through(unit, students.fresh(exercise, mended), checks)
    passed = [one.check for one in ran if one.status == "passed"]
    if not passed or not any(_fails_watched(one) for one in ran):
        return ran
    anew = students.fresh(exercise, mended)
    again = _run_through(unit, anew, passed, watched=True)
    worse = {one.check.name: one for one in again if one.status != "passed"}
    return [worse.get(one.check.name, one) for one in ran]


def run_beside(
    unit: GradedUnit, students: Students, checks: Sequence[HiddenCheck]
) -> list[Ran] | None:
    """Run an exercise's checks where the one before it was checked; None: not there.

    Only what passes can be believed.
    """
    given = students.still_there()
    return None if given is None else _run_through(unit, given, checks)


def _fails_watched(ran: Ran) -> bool:
    """Say whether a check failed that watches, and found nothing banned."""
    return ran.watched and ran.status != "passed" and not ran.forfeits


def _run_through(
    unit: GradedUnit,
    given: AbstractContextManager[Student],
    checks: Sequence[HiddenCheck],
    watched: bool = False,
) -> list[Ran]:
    """Run checks one after the other on the student that is `given`.

    The watch is on all of them if `watched`.
    """
    ran: list[Ran] = []
    is_watched = False  # by the check that is being run
    try:
        with given as student:
            for check in checks:
                draw = Draw(unit.slug, check.name, unit.draw_number)
                is_watched = False
                try:
                    with student.watched() if watched else contextlib.nullcontext():
                        ran.append(_run_check(check, student, draw))
                finally:
                    is_watched = student.was_watched
    except StudentGone as gone:
        words = Phrase("Not run: {reason}.", gone.reason)
        left = checks[len(ran) :]
        ran += [Ran(check, "not run", words) for check in left]
        if left and is_watched:
            ran[-len(left)] = replace(ran[-len(left)], watched=True)
    return ran


def _run_check(check: HiddenCheck, student: Student, draw: Draw) -> Ran:
    """Run one check.

    Raises:
        StudentGone: if there is no student any more, for this check or another one.
    """
    fixtures: dict[str, Any] = {"student": student, "draw": draw}
    student.begin(draw.seed)
    try:
        check.function(**{name: fixtures[name] for name in fixtures_of(check.function)})
    except CheckFailed as failed:
        forfeits = isinstance(failed, BannedCall)
        words = failed.message
        watched = student.was_watched
        return Ran(check, "failed", words, failed.mistake, 0, forfeits, watched)
    except StudentError as error:
        return Ran(check, "failed", error.message, watched=student.was_watched)
    except StudentGone:
        raise
    except Exception:  # what came back was of a kind that the check did not foresee
        return Ran(check, "failed", NOT_FORESEEN)
    return Ran(check, "passed", calls=student.calls)
