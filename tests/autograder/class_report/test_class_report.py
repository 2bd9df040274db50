"""The report on a graded class, and its files for the platforms."""

import csv
import json
import os
import shutil
import time

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from tiny_grading import EXPECTED, UNIT, grade, only, submission
from typer.testing import CliRunner

from autograder.class_report import gather, write_page
from autograder.class_report.gathering import CLOCKS
from autograder.class_report.page import page_of
from autograder.classroom.folder import ClassFolder
from autograder.collect.roster import read_roster
from autograder.commands.app import app
from autograder.platforms.scores import write_scores
from autograder.sandbox.safe_cells import safe_cell, unquoted
from autograder.viva.marks import marks_path, write_marks

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture(scope="module")
def graded(make_classroom, tmp_path_factory):
    """Grade the tiny class, with one refused and one missing submission."""
    root = make_classroom(tmp_path_factory.mktemp("report") / "class")
    submission(root, "untouched").write_text("")
    shutil.rmtree(root / "submitted" / "raising")
    assert grade(root).exit_code == 1
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        details = {"first_name": "Ada", "last_name": "Lovelace", "lms_user_id": "4711"}
        gradebook.update_or_create_student("perfect-one", **details)
        gradebook.update_or_create_student("nobody", email="nobody@example.org")
    return root


def test_a_graded_class_is_told_as_it_is(graded):
    report = gather(ClassFolder(graded), UNIT)
    rows = {one.student: one for one in report.rows}
    assert rows["nobody"].status == "missing"
    assert rows["untouched"].status == "refused" and "empty" in rows["untouched"].reason
    assert "raising" not in rows
    for student, one in rows.items():
        if one.status == "graded":
            assert one.score == EXPECTED[student], student
            assert one.checks and one.seconds > 0
    assert rows["damaged"].repair
    assert rows["looping"].limits_hit
    assert any(one.students for one in report.mistakes())
    assert next(iter(report.points)) == "double"
    assert "CANARY" not in page_of(report)


def test_regrading_keeps_the_times(graded):
    before = {r.student: r.seconds for r in gather(ClassFolder(graded), UNIT).rows}
    assert grade(graded).exit_code == 1
    after = {r.student: r.seconds for r in gather(ClassFolder(graded), UNIT).rows}
    assert after == before


def test_the_marks_of_an_oral_exam_have_a_column(graded):
    assert "oral exam" not in page_of(gather(ClassFolder(graded), UNIT))
    path = marks_path(graded, UNIT)
    write_marks(path, (), {"perfect-one": ["2", "1", "0"]})
    report = gather(ClassFolder(graded), UNIT)
    page = page_of(report)
    assert page.count("oral exam") == 1 and page.count("2 + 1 + 0 = 3") == 1
    rows = {one.student: one for one in report.rows}
    assert rows["perfect-one"].score == EXPECTED["perfect-one"]
    path.unlink()


def test_the_command_writes_page_and_files(graded, tmp_path):
    arguments = ["report", "1", "--course-root", str(graded), "--to", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == [f"{UNIT}-canvas.csv", f"{UNIT}-moodle.csv", f"{UNIT}.html"]
    with (tmp_path / f"{UNIT}-canvas.csv").open(encoding="utf-8-sig") as file:
        rows = {line["SIS Login ID"]: line for line in csv.DictReader(file)}
    assert rows["perfect-one"]["Student"] == "Lovelace, Ada"
    assert rows["perfect-one"]["ID"] == "4711"
    assert rows["mistake-1"][UNIT] == ""  # a human must grade the written answer
    assert rows["nobody"][UNIT] == "" and rows["untouched"][UNIT] == ""
    assert "await a human" in done.output
    roster = read_roster(tmp_path / f"{UNIT}-canvas.csv")
    assert roster.students["perfect-one"].lms == "4711"
    moodle = read_roster(tmp_path / f"{UNIT}-moodle.csv")
    assert moodle.students["nobody"].email == "nobody@example.org"


def test_the_gradebook_decides_what_is_graded(classroom):
    only(classroom, "perfect-one", "half-done")
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    api = NbGraderAPI(folder.coursedir, config=folder.config)
    assert api.autograde(UNIT, "perfect-one")["success"]  # no line in the log
    rows = {one.student: one for one in gather(folder, UNIT).rows}
    assert (rows["perfect-one"].status, rows["perfect-one"].score) == ("graded", 70.0)
    assert rows["half-done"].status == "not graded"


def test_a_changed_submission_is_not_reported_with_its_old_score(classroom):
    only(classroom, "perfect-one", "mistake-1")
    assert grade(classroom).exit_code == 0
    shutil.copyfile(
        submission(classroom, "perfect-one"), submission(classroom, "mistake-1")
    )
    folder = ClassFolder(classroom)
    row = next(r for r in gather(folder, UNIT).rows if r.student == "mistake-1")
    assert (row.status, row.score) == ("not graded", None)
    assert "changed" in row.reason
    time.sleep(CLOCKS + 0.1)
    api = NbGraderAPI(folder.coursedir, config=folder.config)
    assert api.autograde(UNIT, "mistake-1")["success"]
    row = next(r for r in gather(folder, UNIT).rows if r.student == "mistake-1")
    assert (row.status, row.score) == ("graded", 70.0)


def test_what_a_human_must_look_at_again_is_no_final_score(classroom, tmp_path):
    only(classroom, "perfect-one", "perfect-two")
    assert grade(classroom).exit_code == 0
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        for student in ("perfect-one", "perfect-two"):
            written = gradebook.find_grade("why", UNIT, UNIT, student)
            written.manual_score = 20
            written.needs_manual_grade = student == "perfect-two"
        gradebook.db.commit()
    report = gather(ClassFolder(classroom), UNIT)
    awaiting = {row.student: row.awaits_a_human for row in report.rows}
    assert awaiting == {"perfect-one": False, "perfect-two": True}
    path = write_scores(report, tmp_path)[0]
    with path.open(encoding="utf-8-sig") as file:
        rows = {row["SIS Login ID"]: row[UNIT] for row in csv.DictReader(file)}
    assert (rows["perfect-one"], rows["perfect-two"]) == ("90", "")


def test_points_by_hand_for_who_handed_in_nothing_reach_the_platforms(
    classroom, tmp_path
):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        for student in ("told-aloud", "extended"):
            gradebook.add_student(student)
            gradebook.add_submission(UNIT, student)  # as `course extend` does it
        spoken = gradebook.find_grade("why", UNIT, UNIT, "told-aloud")
        spoken.manual_score, spoken.needs_manual_grade = 12, False
        gradebook.db.commit()
    report = gather(ClassFolder(classroom), UNIT)
    rows = {one.student: one for one in report.rows}
    assert (rows["told-aloud"].status, rows["told-aloud"].score) == ("missing", 12)
    assert (rows["extended"].status, rows["extended"].score) == ("missing", None)
    with write_scores(report, tmp_path)[0].open(encoding="utf-8-sig") as file:
        given = {row["SIS Login ID"]: row[UNIT] for row in csv.DictReader(file)}
    assert (given["told-aloud"], given["extended"]) == ("12", "")


def test_an_odd_name_stops_no_report(classroom, tmp_path):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    os.makedirs(os.fsencode(classroom) + b"/submitted/b\xff/01_tiny")
    report = gather(ClassFolder(classroom), UNIT)
    assert len(report.rows) == 2
    assert all(path.stat().st_size for path in write_scores(report, tmp_path))
    write_page(report, tmp_path / "page.html")


def test_before_grading_it_says_what_to_do(classroom):
    done = CliRunner().invoke(app, ["report", "1", "--course-root", str(classroom)])
    assert done.exit_code == 2
    assert "run `course grade" in done.output


def test_what_was_handed_in_and_not_graded_is_no_zero(classroom):
    only(classroom, "perfect-one", "half-done")
    assert grade(classroom, "--student", "half-done").exit_code == 0
    rows = {one.student: one for one in gather(ClassFolder(classroom), UNIT).rows}
    assert rows["perfect-one"].status == "not graded"
    assert rows["perfect-one"].score is None


def test_a_late_penalty_is_taken_off(classroom):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        found = gradebook.find_submission(UNIT, "perfect-one")
        found.notebooks[0].late_submission_penalty = 7.5
        gradebook.db.commit()
    (one,) = gather(ClassFolder(classroom), UNIT).rows
    assert one.score == 62.5


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+1", "'+1+1"),
        ("@x", "'@x"),
        ("-x", "'-x"),
        ("-1.5", "-1.5"),
        ("＝1+1", "'＝1+1"),
        ("－x", "'－x"),
        ("Ada; =1+1", "Ada; '=1+1"),
        ("a;+1;@x; b", "a;'+1;'@x; b"),
        ("=a;-b", "'=a;'-b"),
        ("ada", "ada"),
        ("", ""),
    ],
)
def test_no_cell_is_a_formula(cell, expected):
    assert safe_cell(cell) == expected
    assert unquoted(expected) == cell


def test_exports_are_the_same_each_time(graded, tmp_path):
    report = gather(ClassFolder(graded), UNIT)
    first = [path.read_bytes() for path in write_scores(report, tmp_path / "a")]
    again = gather(ClassFolder(graded), UNIT)
    assert [p.read_bytes() for p in write_scores(again, tmp_path / "b")] == first
    assert page_of(report) == page_of(again)


def test_a_torn_log_is_read(graded, tmp_path):
    shutil.copytree(graded, tmp_path / "class", symlinks=True)
    log = tmp_path / "class" / "grading" / "audit.jsonl"
    with log.open("a") as file:
        file.write('{"unit": "01_tiny", "stu')
    report = gather(ClassFolder(tmp_path / "class"), UNIT)
    assert report.count("graded") == 10
    assert json.loads(log.read_text().splitlines()[0])["unit"] == UNIT
