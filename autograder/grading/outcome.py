"""Hold the outcome of grading one submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from nbformat import NotebookNode

from autograder.grading.check_results import (
    CheckResult,
    max_score_of,
    score_of,
    scores_of,
)
from autograder.phrases import restored, with_templates
from autograder.unit import Submission

if TYPE_CHECKING:
    from autograder.sandbox.transport import CellRun

RECORD = "course_grading"  # its key in the metadata of a notebook
Status = Literal["graded", "refused", "failed"]
MAX_REASON = 300  # characters of an error message from Python


@dataclass
class Outcome:
    """Hold the outcome of grading one submission.

    Attributes:
        submission: the submission and its student.
        status: "graded", "refused" (it cannot be graded) or "failed" (because of the
            grader).
        reason: the reason why it was refused or failed.
        notebook: the rebuilt notebook. After the checks, it contains scores and
            reports.
        notes: the repairs that were made.
        doubtful: remarks on what an instructor should look at.
        unwritten: exercises whose answer cell is unchanged.
        results: every check's result, in the order of the notebook; none if refused.
        runs: the output of each executed cell, in the order of `cells_to_run`.
        limits_hit: the limits that were exceeded, and where.
        seconds: how long grading took.
        is_kept: whether the outcome is from an earlier run and is still valid.
        sandbox: the kind of sandbox in which the cells ran, or "none"; "" if no cell
            ran.
        was_held_up: whether it ran out of time while other processes used the
            processors.
    """

    submission: Submission
    status: Status = "graded"
    reason: str = ""
    notebook: NotebookNode | None = None
    notes: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    unwritten: frozenset[str] = frozenset()
    results: Sequence[CheckResult] = ()
    runs: Sequence[CellRun] = ()
    limits_hit: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_kept: bool = False
    sandbox: str = ""
    was_held_up: bool = False

    @property
    def is_unprotected(self) -> bool:
        """Return whether the cells ran without a sandbox."""
        return self.sandbox == "none"

    @property
    def score(self) -> float:
        """Return the sum of the points of all checks."""
        return score_of(self.results)

    @property
    def max_score(self) -> float:
        """Return the sum of the maximum points of all checks."""
        return max_score_of(self.results)

    @property
    def scores(self) -> dict[str, float]:
        """Return each exercise's points."""
        return scores_of(self.results)


def as_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain values, as stored in notebooks and in `grading/`."""
    return with_templates(
        {
            "repair": outcome.notes,
            "doubtful": outcome.doubtful,
            "unwritten": sorted(outcome.unwritten),
            "limits_hit": outcome.limits_hit,
            "seconds": round(outcome.seconds, 3),
            "sandbox": outcome.sandbox,
            "problem": outcome.reason or None,
            "checks": [dict(vars(result)) for result in outcome.results],
        }
    )


def from_record(
    record: Mapping[str, Any],
    submission: Submission,
    notebook: NotebookNode | None = None,
) -> Outcome:
    """Return the outcome that `as_record` stored in a record."""
    record = restored(record)
    problem = record["problem"]
    return Outcome(
        submission,
        status="failed" if problem else "graded",
        reason=problem or "",
        notebook=notebook,
        notes=list(record["repair"]),
        doubtful=list(record["doubtful"]),
        unwritten=frozenset(record["unwritten"]),
        results=[CheckResult(**fields) for fields in record["checks"]],
        limits_hit=list(record["limits_hit"]),
        seconds=record["seconds"],
        sandbox=record.get("sandbox", ""),
    )
