"""Grade a submission in Gradescope's container, and write `results.json`.

The script `run_autograder` runs this module. The variable `AUTOGRADER_ROOT` names the
folder that contains Gradescope's folders.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from autograder.atomic_write import atomic_write
from autograder.grading.check_results import CheckResult
from autograder.grading.feedback_table import words_of
from autograder.grading.outcome import Outcome
from autograder.platforms.alone import grade_alone, protection, what_to_see_to
from autograder.sandbox.bubblewrap import kind_in_a_container
from autograder.unit import graded_unit

BEGUN = (
    "Grading has started but has not finished, so there are no points yet. Hand in "
    "again, and tell your instructor if you still see this message."
)
READ = "Your notebook"
CHECKED = "These are the points of the checks; written answers are not among them."
WELL_READ = "It was read; nothing had to be repaired."


def as_results(outcome: Outcome, visibility: str) -> dict[str, Any]:
    """Return the results in the format that Gradescope documents.

    Args:
        outcome: the outcome of the submission.
        visibility: when students see the results of the checks.
    """
    checks = [_as_test(result, visibility) for result in outcome.results]
    return {
        "score": outcome.score,
        "output": _words(outcome),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_reading(outcome), *checks],
    }


def _as_test(result: CheckResult, visibility: str) -> dict[str, Any]:
    is_run = result.status != "not run"
    name = f"{result.exercise}: {result.title}"
    return {
        "name": name if is_run else f"{name} (not run)",
        "score": result.points,
        "max_score": result.max_points,
        "status": "passed" if result.status == "passed" else "failed",
        "output": words_of(result),
        "output_format": "text",
        "visibility": visibility,
    }


def _reading(outcome: Outcome) -> dict[str, Any]:
    """Report visibly whether the notebook was read and is complete."""
    lines = what_to_see_to(outcome)
    is_well = outcome.status == "graded" and len(lines) == len(outcome.notes)
    return {
        "name": READ,
        "status": "passed" if is_well else "failed",
        "output": outcome.reason or "\n".join(lines) or WELL_READ,
        "output_format": "text",
        "visibility": "visible",
    }


def _words(outcome: Outcome) -> str:
    if outcome.status == "graded":
        return CHECKED
    if outcome.status == "refused":
        return f"It cannot be graded. {outcome.reason[:1].upper()}{outcome.reason[1:]}"
    return "Not run: the grader had a problem. Tell your instructor."


def write_results(root: Path, results: dict[str, Any]) -> None:
    """Write `results.json`; until Gradescope reads it, only the grader can."""
    path = root / "results" / "results.json"
    text = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False)
    atomic_write(path, text.encode("utf-8", errors="replace"))
    path.chmod(0o600)


def say(outcome: Outcome, kind: str) -> None:
    """Print details that Gradescope shows only to instructors."""
    print(protection(outcome, kind))
    reason = f": {outcome.reason!a}" if outcome.reason else ""
    print(f"{outcome.status} in {outcome.seconds:.0f} s{reason}")
    for words in (*outcome.notes, *outcome.doubtful, *outcome.limits_hit):
        print(f"- {words!a}")


def main() -> None:
    """Grade the folder `submission/` for the unit named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("unit")
    parser.add_argument("--visibility", default="visible")
    options = parser.parse_args()
    root = Path(os.environ["AUTOGRADER_ROOT"])
    write_results(root, {"score": 0, "output": BEGUN, "tests": []})
    kind = kind_in_a_container()
    unit = graded_unit(options.unit, root / "source")
    outcome = grade_alone(unit, root / "submission", kind)
    say(outcome, kind)
    write_results(root, as_results(outcome, options.visibility))


if __name__ == "__main__":
    main()
