"""Hold the results of hidden checks, and add up their points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "not run"]


@dataclass(frozen=True)
class CheckResult:
    """Hold the result of one hidden check.

    The student reads `message`, which describes the error, and `hint`, which helps to
    find it. `mistake` is the phrase for a mistake that the check recognised.
    `with_reference_answers` is True if the check failed with the student's earlier
    answers but passed with the course's.
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
    with_reference_answers: bool = False


def score_of(results: Sequence[CheckResult]) -> float:
    """Return the sum of the checks' points, but not more than their maximum."""
    earned = round(sum(result.points for result in results), 2)
    return min(earned, max_score_of(results))


def max_score_of(results: Sequence[CheckResult]) -> float:
    """Return the maximum points of these checks."""
    return round(sum(result.max_points for result in results), 2)


def scores_of(results: Sequence[CheckResult]) -> dict[str, float]:
    """Return each exercise's score, in the order of the notebook."""
    exercises = dict.fromkeys(result.exercise for result in results)
    return {
        exercise: score_of([r for r in results if r.exercise == exercise])
        for exercise in exercises
    }
