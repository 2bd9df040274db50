"""The sample class of unit 04 gets exactly the scores that are written here."""

import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import load_course
from autograder.proof.sample_class import scores_file

UNIT = "04_attention"
EXPECTED = {
    "perfect-one": 85.0,
    "perfect-two": 85.0,
    "half-done": 40.0,
    "mistake-1": 70.0,
    "mistake-2": 60.0,
    "mistake-3": 55.0,
    "mistake-4": 70.0,
    "mistake-5": 70.0,
    "untouched": 0.0,
    "raising": 70.0,
    "looping": 70.0,
    "damaged": 85.0,
}


def run(*arguments: str):
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_the_twelve_get_their_scores(tmp_path: Path) -> None:
    course = load_course()
    if not course.release_notebook(course.unit(UNIT)).is_file():
        pytest.skip("the unit's notebooks are not made: run `make notebooks`")
    run("sample-class", "04", "--to", str(tmp_path / "submitted"))
    table = json.loads(scores_file(tmp_path / "submitted", UNIT).read_text())
    assert {s: e["score"] for s, e in table["students"].items()} == EXPECTED
    run("grade", "04", "--course-root", str(tmp_path))
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        scores = {
            item.student.id: round(item.score, 2)
            for item in gradebook.assignment_submissions(UNIT)
        }
    assert scores == EXPECTED
