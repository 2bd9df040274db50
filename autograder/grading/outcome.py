"""What became of one submission, from its repair to the gradebook: one record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nbformat import NotebookNode

from autograder.grading.points import CheckResult, max_score_of, score_of, scores_of
from autograder.phrases import restored, with_templates
from autograder.sandbox.submission_runner import CellRun
from autograder.unit import Submission

RECORD = "course_grading"  # where a notebook's metadata has it
Status = Literal["graded", "refused", "failed"]


@dataclass
class Outcome:
    """What became of one submission.

    Attributes:
        submission: whose it is.
        status: "graded"; "refused": it cannot be graded; "failed": the grader's fault.
        reason: why it was refused or failed.
        notebook: the rebuilt notebook, with scores and reports once it is checked.
        notes: what was repaired.
        doubtful: what a human should look at.
        unwritten: exercises whose answer is as it was handed out.
        results: every check's result, in the order of the notebook; none if refused.
        runs: what each executed cell printed; in the order of `cells_to_run`.
        limits_hit: which limits were hit, where.
        seconds: how long it took.
        is_kept: whether it was graded before, and nothing has changed since.
        sandbox: the kind of sandbox that the cells ran in, or "none"; "" if none ran.
        was_held_up: whether it ran out of time while others had the processors.
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
        """Say whether the cells ran without a sandbox."""
        return self.sandbox == "none"

    @property
    def score(self) -> float:
        """Return the points of all checks."""
        return score_of(self.results)

    @property
    def max_score(self) -> float:
        """Return the points that there are for checks."""
        return max_score_of(self.results)

    @property
    def scores(self) -> dict[str, float]:
        """Return each exercise's points."""
        return scores_of(self.results)


def as_record(outcome: Outcome) -> dict[str, Any]:
    """Return what is kept of an outcome, in notebooks and `grading/`, for JSON."""
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
    """Return the outcome that `as_record` kept."""
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
