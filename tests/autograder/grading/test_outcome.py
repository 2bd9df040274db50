"""Stored outcomes survive: reading a record returns what was written."""

import json
from pathlib import Path

from autograder.grading.check_results import CheckResult
from autograder.grading.outcome import Outcome, as_record, from_record
from autograder.unit import Submission

SUBMISSION = Submission("ada", "01_tiny", Path("ada/01_tiny/01_tiny.ipynb"))
RESULTS = [
    CheckResult("double", "test_a", "It doubles", 1, 6.67, 6.67, "passed"),
    CheckResult(
        "double", "test_b", "Values", 2, 0, 13.33, "failed", "no", "x", "square"
    ),
    CheckResult("scaler", "test_c", "It scales", 1, 10, 10, "passed"),
]


def back(outcome: Outcome) -> Outcome:
    return from_record(json.loads(json.dumps(as_record(outcome))), SUBMISSION)


def test_what_is_kept_comes_back() -> None:
    outcome = Outcome(
        SUBMISSION,
        notes=["a cell was moved"],
        doubtful=["found only by its place"],
        unwritten=frozenset({"scaler"}),
        results=RESULTS,
        limits_hit=["double: time"],
        seconds=1.5,
    )
    assert back(outcome) == outcome


def test_a_problem_comes_back_as_a_failure() -> None:
    outcome = Outcome(SUBMISSION, "failed", "no child could be made", results=RESULTS)
    assert back(outcome) == outcome


def test_scores_are_those_of_the_results() -> None:
    outcome = Outcome(SUBMISSION, results=RESULTS)
    assert outcome.scores == {"double": 6.67, "scaler": 10}
    assert (outcome.score, outcome.max_score) == (16.67, 30)
    assert Outcome(SUBMISSION, "refused", "the file is empty").scores == {}
