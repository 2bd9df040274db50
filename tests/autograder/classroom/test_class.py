"""nbgrader's command, its API and `course grade` grade a class in the same way."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from tiny_grading import EXPECTED, UNIT, grade, nbgrader, only, scores, submission

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writer import write_all
from autograder.commands.grading import line_of
from autograder.grading.submission import grade_submission
from autograder.proof.sample_class import scores_file
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


def test_the_expected_scores_are_written_down(classroom):
    table = json.loads(scores_file(classroom / "submitted", "01_tiny").read_text())
    assert {s: e["score"] for s, e in table["students"].items()} == EXPECTED


def test_nbgraders_own_command(classroom):
    ClassFolder(classroom).register(UNIT)
    done = nbgrader(classroom, "autograde", UNIT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert scores(classroom) == EXPECTED


def test_course_grade_goes_through_the_class(classroom):
    submission(classroom, "mistake-5").write_text('{"cells": [{"cell_')
    done = grade(classroom)
    assert done.exit_code == 1, done.output
    assert scores(classroom) == {**EXPECTED, "mistake-5": 0.0}
    for words in (
        "mistake-5: refused: it is not a complete notebook",
        "12/12",
        "looping: 30 of 70",
        "gradebook.db",
        "feedback",
    ):
        assert words in done.output.replace("\n", " ")
    page = classroom / "feedback" / "mistake-1" / UNIT / f"{UNIT}.html"
    text = page.read_text()
    for words in ("Every value is doubled", "Multiply by 2.", "the square", "13.33"):
        assert words in text
    assert "CANARY" not in text
    refused = classroom / "feedback" / "mistake-5" / UNIT / f"{UNIT}.html"
    assert "it is not a complete notebook" in refused.read_text("utf-8")
    assert refused.read_text("utf-8").count("<p lang=") == 1  # no Korean edition
    assert grade(classroom, UNIT, "--student", "perfect-one").exit_code == 0
    assert scores(classroom) == {**EXPECTED, "mistake-5": 0.0}


def test_nbgraders_api_as_formgraders_button_calls_it(classroom):
    only(classroom, "perfect-one", "mistake-1", "damaged")
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    api = NbGraderAPI(folder.coursedir, config=folder.config)
    for student in ("perfect-one", "mistake-1", "damaged"):
        done = api.autograde(UNIT, student)
        assert done["success"], done
        assert scores(classroom)[student] == EXPECTED[student]
    shown = nbformat.read(
        classroom / "autograded" / "mistake-1" / UNIT / f"{UNIT}.ipynb", 4
    )
    check = next(c for c in shown.cells if c.id == "double-check")
    assert "Multiply by 2." in check.outputs[0].data["text/html"]
    assert check.outputs[1].data["text/plain"] == "6.67"


def test_a_regrade_keeps_what_a_human_gave(classroom):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        written = gradebook.find_grade("why", UNIT, UNIT, "perfect-one")
        assert written.needs_manual_grade
        written.manual_score = 25
        comment = gradebook.find_comment("why", UNIT, UNIT, "perfect-one")
        comment.manual_comment = "Well said."
        gradebook.db.commit()
    assert grade(classroom).exit_code == 0
    assert scores(classroom) == {"perfect-one": 95.0}
    page = classroom / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    assert "Well said." in page.read_text()


@pytest.mark.parametrize("way", ["course", "api"])
def test_no_old_score_stays_when_a_submission_is_refused(classroom, way):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    submission(classroom, "perfect-one").write_text("")
    if way == "course":
        assert "refused: the file is empty" in grade(classroom).output
    else:
        folder = ClassFolder(classroom)
        api = NbGraderAPI(folder.coursedir, config=folder.config)
        done = api.autograde(UNIT, "perfect-one")
        assert not done["success"]
        assert "the file is empty" in done["log"]
    assert scores(classroom) == {"perfect-one": 0.0}
    assert not (classroom / "autograded" / "perfect-one" / UNIT).exists()
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        double = gradebook.find_grade("double-check", UNIT, UNIT, "perfect-one")
        assert double.auto_score is None
        assert double.needs_manual_grade


def test_links_are_not_followed(classroom):
    only(classroom, "perfect-one")
    folder = classroom / "submitted" / "perfect-one" / UNIT
    (folder / "notes.txt").symlink_to(classroom / "nbgrader_config.py")
    assert grade(classroom).exit_code == 0
    copied = classroom / "autograded" / "perfect-one" / UNIT
    assert not (copied / "notes.txt").exists()
    assert "was a link to" in (folder / "notes.txt.was-a-link").read_text()


def linked(root: Path, student: str, where: str, target: Path) -> None:
    """Replace a student's folder, or the unit's folder in it, by a link."""
    home = root / "submitted" / student
    if where == "unit":
        home.mkdir()
        (home / UNIT).symlink_to(target / UNIT)
    else:
        home.symlink_to(target)


@pytest.mark.parametrize("where", ["unit", "student"])
@pytest.mark.parametrize("way", ["course", "api"])
def test_a_linked_folder_is_refused_and_not_touched(classroom, tmp_path, where, way):
    only(classroom, "perfect-one")
    private = tmp_path / "private"
    shutil.copytree(classroom / "submitted" / "perfect-one", private)
    (private / UNIT / "keep").symlink_to("/etc/hostname")
    linked(classroom, "eve", where, private)
    before = sorted(path.name for path in (private / UNIT).iterdir())
    if way == "course":
        assert "eve: refused: its folder is a link" in grade(classroom).output
    else:
        folder = ClassFolder(classroom)
        folder.register(UNIT)
        done = NbGraderAPI(folder.coursedir, config=folder.config).autograde(
            UNIT, "eve"
        )
        assert not done["success"] and "is a link" in done["log"]
    assert sorted(path.name for path in (private / UNIT).iterdir()) == before
    assert (private / UNIT / "keep").is_symlink()
    assert scores(classroom).get("eve", 0.0) == 0.0
    assert not list((classroom / "autograded").glob("eve/*/*"))


def test_no_old_score_stays_when_nbgrader_cannot_write(classroom):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    folder = classroom / "submitted" / "perfect-one" / UNIT
    (folder / "timestamp.txt").write_text("garbage\n")
    done = grade(classroom)
    assert "perfect-one: failed" in done.output and done.exit_code == 1
    assert scores(classroom) == {"perfect-one": 0.0}
    assert not (classroom / "autograded" / "perfect-one" / UNIT).exists()


def test_a_renamed_notebook_handed_in_again_is_seen(classroom):
    only(classroom, "perfect-one", "untouched")
    path = submission(classroom, "untouched")
    renamed = path.with_name(f"Copy of {UNIT}.ipynb")
    path.rename(renamed)
    assert grade(classroom).exit_code == 0
    assert scores(classroom)["untouched"] == 0.0
    assert [one.name for one in renamed.parent.glob("*.ipynb")] == [renamed.name]
    shutil.copyfile(submission(classroom, "perfect-one"), renamed)
    assert grade(classroom).exit_code == 0
    assert scores(classroom)["untouched"] == 70.0


def test_a_checker_that_does_not_start_gives_nothing_and_says_so(
    classroom, monkeypatch
):
    only(classroom, "perfect-one")

    from autograder.sandbox import fork_server_client

    def broken(self, limits, kit=""):
        raise fork_server_client.NoParent("no child could be made")

    monkeypatch.setattr(fork_server_client.ForkServerClient, "fork", broken)
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    (chosen,) = folder.submissions(UNIT)
    outcome = grade_submission(graded_unit(UNIT, classroom), chosen, folder.limits)
    assert line_of(outcome) == "perfect-one: failed: no child could be made"
    assert write_all(folder, outcome, with_feedback=True).status == "failed"
    assert scores(classroom) == {"perfect-one": 0.0}


def test_bad_arguments_are_said(tmp_path):
    done = grade(tmp_path)
    assert done.exit_code == 2
    assert "Nothing is handed in" in done.output
    done = grade(tmp_path, "nonsense")
    assert done.exit_code == 2
    assert "unknown unit 'nonsense'" in done.output
