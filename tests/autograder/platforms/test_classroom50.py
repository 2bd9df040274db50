"""Classroom 50's autograder: its `result.json` has the documented schema.

The schema is in our own words, with the rules of `schemas/result-v1.schema.json` and of
`validate_result` in `runner.py` (github.com/foundation50/classroom50, August 2026).
"""

import json
import os
import re
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import load_course
from autograder.grading.outcome import Outcome
from autograder.grading.points import CheckResult
from autograder.platforms import github
from autograder.platforms.classroom50 import as_scores, write_scores
from autograder.platforms.package import TEMPLATES, assignment_name, classroom50_files
from autograder.unit import Submission

TEXT = {"type": "string", "minLength": 1}
WHOLE = {"type": "integer", "minimum": 0}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
TEST = {
    "type": "object",
    "required": ["test-name", "passed", "score", "max-score"],
    "properties": {
        "test-name": TEXT,
        "passed": {"type": "boolean"},
        "score": WHOLE,
        "max-score": WHOLE,
    },
}
FIELDS = {
    "schema": {"const": "classroom50/result/v1"},
    "classroom": TEXT,
    "assignment": TEXT,
    "assignment_type": {"enum": ["individual", "group"]},
    "owner": TEXT,
    "submission": {"type": "string", "pattern": "^submit/"},
    **dict.fromkeys(("commit", "release", "review"), TEXT),
    "datetime": TIME,
    "score": WHOLE,
    "max-score": WHOLE,
    "tests": {"type": "array", "items": TEST},
}
OPTIONAL = {"graded_at": TIME, "submitted_by": {"type": "object"}}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": [*FIELDS],
    "properties": FIELDS | OPTIONAL,
}
NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,38}")  # of an assignment
MOST = 10 * 1024 * 1024  # bytes that the runner fetches
GIVEN = {
    "CLASSROOM": "cs-principles",
    "ASSIGNMENT": "01-tiny",
    "ASSIGNMENT_TYPE": "individual",
    "USERNAME": "ada",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-09-01T10-00-00Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/us/cs-principles-01-tiny-ada/commit/a1b2c3d",
    "RELEASE_URL": "https://github.com/us/cs-principles-01-tiny-ada/releases/tag/x",
    "REVIEW_URL": "",
}
ADA = Submission("ada", "01_tiny", Path("nowhere"))


def require_valid(result: dict[str, Any]) -> None:
    """Require the schema, and the rules between fields that it cannot express."""
    Draft202012Validator(SCHEMA).validate(result)
    for one in (result, *result["tests"]):
        assert one["score"] <= one["max-score"]
    for key in ("score", "max-score"):
        assert result[key] == sum(test[key] for test in result["tests"])


def outcome(*earned: float) -> Outcome:
    """Return an outcome with checks of 3.33 points each."""
    results = [
        CheckResult(
            *("double", f"check {number}", f"Check {number}", 1.0, points, 3.33),
            "passed" if points else "failed",
            "" if points else "The shape is wrong.",
        )
        for number, points in enumerate(earned)
    ]
    return Outcome(ADA, results=results)


@pytest.fixture
def grader(tmp_path: Path) -> Path:
    """Make the folder that Classroom 50 unpacks, with a grader that copies scores."""
    folder = tmp_path / "unpacked"
    (folder / "grader").mkdir(parents=True)
    (folder / "autograder.py").write_bytes((TEMPLATES / "autograder.py").read_bytes())
    (folder / "grader" / "install").write_text("test -d .git\n")
    copy = 'cp "$(dirname "$0")/scores.json" "$3" && echo "70 points" >"$5"; exit 1\n'
    (folder / "grader" / "grade").write_text(copy)
    return folder


def graded_by(folder: Path, checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run the autograder as the runner does, in a student's checkout."""
    (checkout / ".git").mkdir(parents=True)
    output = {"GITHUB_OUTPUT": str(checkout.parent / "output.txt")}
    return subprocess.run(
        [sys.executable, folder / "autograder.py"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], **GIVEN, **output},
        capture_output=True,
        text=True,
    )


def test_the_result_has_the_documented_schema(grader: Path, tmp_path: Path) -> None:
    write_scores(outcome(3.33, 0.0, 3.33), 10, grader / "grader" / "scores.json")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "result.json").symlink_to(secret)
    done = graded_by(grader, checkout)
    assert done.returncode == 0, done.stderr
    result = json.loads((checkout / "result.json").read_text())
    require_valid(result)
    assert (result["score"], result["max-score"]) == (666, 999)
    assert (result["owner"], result["review"]) == ("ada", GIVEN["COMMIT_URL"])
    assert (checkout / "release-body.md").read_text() == "70 points\n"
    said = (tmp_path / "output.txt").read_text()
    assert said == "status=failure\nsummary=6.66 of 9.99 points by the checks\n"
    assert secret.read_text() == "secret"


def test_without_scores_the_runner_hears_of_a_problem(
    grader: Path, tmp_path: Path
) -> None:
    """Classroom 50 then counts the submission as an error, and not as zero points."""
    done = graded_by(grader, tmp_path / "checkout")
    assert done.returncode == 1 and "::error::" in done.stdout
    assert not (tmp_path / "checkout" / "result.json").exists()


def test_a_refused_notebook_does_not_pass() -> None:
    """Classroom 50 counts a result without tests as passed."""
    refused = Outcome(ADA, "refused", "The submission contains no notebook.")
    scores = as_scores(refused, 70)
    assert (scores["score"], scores["max-score"]) == (0, 7000)
    (test,) = scores["tests"]
    assert not test["passed"] and test["output"] == refused.reason


@pytest.mark.parametrize("field", ["owner", "score", "tests"])
def test_the_schema_here_can_fail(field: str) -> None:
    result = {name: GIVEN["SUBMISSION_TAG"] for name in FIELDS}
    validator = Draft202012Validator(SCHEMA)
    assert [*validator.iter_errors(result)]
    del result[field]
    assert any(field in error.message for error in validator.iter_errors(result))


def test_the_names_and_sizes_are_allowed() -> None:
    course = load_course()
    assert [
        n for u in course.units if not NAME.fullmatch(n := assignment_name(u))
    ] == []
    made, packed = classroom50_files(course, course.units[-1]), BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in made.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, BytesIO(content))
    assert len(packed.getvalue()) < MOST


def test_the_command_writes_both_folders_and_states_the_risk(
    tmp_path: Path, tiny_root: Path
) -> None:
    words = ["classroom-50", "01", "--to", str(tmp_path), "--course-root"]
    done = CliRunner().invoke(app, [*words, str(tiny_root)])
    assert done.exit_code == 0, done.output
    assert "anyone with its address can read" in " ".join(done.output.split())
    place = tmp_path / "autograders" / "01-tiny"
    assert (place / "autograder.py").is_file()
    assert (place / "grader/autograder/checks/test_01_tiny.py").is_file()
    assert "platforms.github 01_tiny" in (place / "grader" / "grade").read_text()
    student = tmp_path / "student"
    names = {path.name for path in student.rglob("*") if path.is_file()}
    assert {"01_tiny.ipynb", "README.md", "requirements.txt"} <= names
    assert not [name for name in names if "test_" in name or name == "autograder.py"]
    assert json.loads((tmp_path / "runtime.json").read_text())["python"] == "3.12"


@pytest.mark.parametrize("status", ["graded", "refused", "failed"])
def test_the_grader_writes_no_scores_if_it_has_a_problem_itself(
    status: str, tmp_path: Path, tiny_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = outcome(3.33, 0.0) if status == "graded" else Outcome(ADA, status, "why")
    monkeypatch.setattr(github, "grade_alone", lambda *_: made)
    monkeypatch.setattr(github, "kind_in_a_container", lambda: "user")
    monkeypatch.setattr(github, "ROOT", tiny_root)
    scores = tmp_path / "scores.json"
    words = ["grade", "01_tiny", tmp_path, "--scores", scores]
    monkeypatch.setattr("sys.argv", [str(word) for word in words])
    assert github.main() == 1
    if status == "failed":
        assert not scores.exists()
    else:
        most = {"graded": 666, "refused": 7000}[status]
        assert json.loads(scores.read_text())["max-score"] == most
