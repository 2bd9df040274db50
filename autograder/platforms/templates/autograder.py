"""Grade a submission on Classroom 50's runner, and write `result.json`.

The runner starts this file in the student's checkout. Its environment variables are
described at https://github.com/foundation50/classroom50/wiki/Advanced-Autograding.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

GRADER = Path(__file__).resolve().parent / "grader"
RESULT, REPORT = Path("result.json"), Path("release-body.md")
HUNDREDTHS = 100  # in a point: Classroom 50's scores are hundredths


def identity(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that identify the submission."""
    commit = variables["COMMIT_URL"]
    return {
        "schema": "classroom50/result/v1",
        "classroom": variables["CLASSROOM"],
        "assignment": variables["ASSIGNMENT"],
        "assignment_type": variables.get("ASSIGNMENT_TYPE") or "individual",
        "owner": variables.get("OWNER") or variables["USERNAME"],
        "submission": variables["SUBMISSION_TAG"],
        "commit": commit,
        "release": variables["RELEASE_URL"],
        "review": variables.get("REVIEW_URL") or commit,
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def outputs(scores: Mapping[str, Any]) -> str:
    """Return the output lines that the runner reads for a graded submission."""
    has_passed = all(test["passed"] for test in scores["tests"])
    points, most = (scores[key] / HUNDREDTHS for key in ("score", "max-score"))
    status = "success" if has_passed else "failure"
    return f"status={status}\nsummary={points:g} of {most:g} points by the checks\n"


def main() -> int:
    """Grade the checkout; return 1 only if the grader itself had a problem."""
    with tempfile.TemporaryDirectory() as folder:
        scores, report = Path(folder, "scores.json"), Path(folder, "report.md")
        subprocess.run(["bash", GRADER / "install"], check=True)
        files = ("--scores", scores, "--summary", report)
        subprocess.run(["bash", GRADER / "grade", ".", *files])
        if not scores.is_file():
            print("::error::The grader had a problem: see the lines above.")
            return 1
        found = json.loads(scores.read_text(encoding="utf-8"))
        for path in (RESULT, REPORT):  # because the student may have committed links
            path.unlink(missing_ok=True)
        text = json.dumps({**identity(os.environ), **found}, indent=1)
        RESULT.write_text(f"{text}\n", encoding="utf-8")
        shutil.copyfile(report, REPORT)
    if path := os.environ.get("GITHUB_OUTPUT"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(outputs(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
