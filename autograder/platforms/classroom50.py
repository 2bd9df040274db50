"""Convert an outcome to the scores in Classroom 50's `result.json`.

The schema of this file is `classroom50/result/v1`:
https://github.com/foundation50/classroom50/blob/main/schemas/result-v1.schema.json. The
file `templates/autograder.py` adds the fields that identify the submission.
"""

import json
from pathlib import Path
from typing import Any

from autograder.atomic_write import atomic_write
from autograder.grading.feedback_table import words_of
from autograder.grading.outcome import Outcome
from autograder.grading.points import CheckResult

HUNDREDTHS = 100  # in a point, because Classroom 50's scores must be whole numbers
READ = "Your notebook"


def as_scores(outcome: Outcome, max_score: float) -> dict[str, Any]:
    """Return the scores and the tests of a submission, in hundredths of a point.

    Args:
        outcome: the outcome; the submission may have been refused.
        max_score: the maximum points of the unit, which are used if there are no
            results.
    """
    tests = [_as_test(result) for result in outcome.results]
    if not tests:  # Classroom 50 would count a submission without tests as passed
        tests = [_test(READ, False, 0, max_score, outcome.reason)]
    return {
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def _as_test(result: CheckResult) -> dict[str, Any]:
    name, passed = f"{result.exercise}: {result.title}", result.status == "passed"
    return _test(name, passed, result.points, result.max_points, words_of(result))


def _test(
    name: str, passed: bool, points: float, max_points: float, output: str
) -> dict[str, Any]:
    return {
        "test-name": name,
        "passed": passed,
        "score": round(points * HUNDREDTHS),
        "max-score": round(max_points * HUNDREDTHS),
        "output": output,
    }


def write_scores(outcome: Outcome, max_score: float, path: Path) -> None:
    """Write the scores to the file that `templates/autograder.py` reads."""
    text = json.dumps(as_scores(outcome, max_score), indent=1, allow_nan=False)
    atomic_write(path, text.encode("utf-8"))
