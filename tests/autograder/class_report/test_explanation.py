"""`course explain` shows the numbers that the report and the gradebook have."""

import csv
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from tiny_grading import UNIT, grade, only, submission
from typer.testing import CliRunner

from autograder.class_report import gather
from autograder.class_report.explanation import CAPPED, explain
from autograder.classroom.folder import ClassFolder
from autograder.collect.submission_store import Record
from autograder.commands.app import app
from autograder.late_rule import LateRule

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
DAY = 86_400
DUE = datetime(2026, 11, 1)
ZIPPED = Record("", "2026-11-02 12:00:00", "a.zip/x.ipynb", file=7)


def course(root: Path, *words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, [*words, "--course-root", str(root)])
    assert done.exit_code == status, done.output
    return done.output


def cell_in(path: Path) -> str:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))[-1][-1]


@pytest.fixture
def graded(classroom: Path) -> Path:
    """Grade two students. One of them is late."""
    only(classroom, "perfect-one", "mistake-1")
    stamp = submission(classroom, "perfect-one").with_name("timestamp.txt")
    stamp.write_text("2026-11-02 12:00:00 UTC")
    assert grade(classroom).exit_code == 0
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        due = "2026-11-01 00:00:00 UTC"
        gradebook.update_or_create_assignment(UNIT, duedate=due)
    path = classroom / "autograder" / "course.toml"
    path.write_text(f"{path.read_text()}\n[late]\npercent_a_day = 10\n")
    return classroom


@pytest.mark.integration
def test_each_number_comes_from_the_gradebook_and_the_files(graded: Path) -> None:
    said = course(graded, "explain", "perfect-one", "1")
    assert "Handed in: 2026-11-02 12:00:00 UTC, from timestamp.txt in" in said
    assert "double: 20 of 20, by checks\n" in said
    assert "Every value is doubled" in said
    assert "why: ? of 30, a human must still give the points" in said
    assert "Due: 2026-11-01 00:00:00 UTC\nLate rule: 1.5 days late: 0 % once + " in said
    assert "2 days begun × 10 %, at most 100 %: 20 %" in said
    assert "Score: 70 − 14 for lateness = 56 of 100" in said
    assert "so this score is not final" in said

    with Gradebook(f"sqlite:///{graded}/gradebook.db") as gradebook:
        gradebook.find_grade("why", UNIT, UNIT, "perfect-one").manual_score = 30
        checked = gradebook.find_grade("double-check", UNIT, UNIT, "perfect-one")
        checked.manual_score = 15
        for one in gradebook.find_submission(UNIT, "perfect-one").notebooks[0].grades:
            one.needs_manual_grade = False
        gradebook.db.commit()
    course(graded, "extend", "perfect-one", "1", "1")
    said = course(graded, "explain", "perfect-one", "1")
    assert "double: 15 of 20, by hand in place of 20" in said
    assert "why: 30 of 30, by hand" in said
    assert "UTC + 1 day of extension = 2026-11-02 00:00:00 UTC\n" in said
    assert "Score: 95 − 9.5 for lateness = 85.5 of 100" in said
    course(graded, "report", "1")
    for platform in ("canvas", "moodle"):
        path = graded / "report" / f"{UNIT}-{platform}.csv"
        assert cell_in(path) == "85.5"
        row = f"{path.name}, row perfect-one, column 01_tiny"
        words = "`course report` writes 85.5 into"
        assert f"{platform.capitalize()}: {words} {row}" in said


@pytest.mark.integration
def test_mistakes_caps_and_unknown_students(graded: Path) -> None:
    said = course(graded, "explain", "mistake-1", "1")
    assert "Handed in: at an unknown time, which counts as on time" in said
    assert "Late rule: on time, so no points are lost" in said
    folder = ClassFolder(graded)
    report = gather(folder, UNIT, "mistake-1")
    [row] = report.rows
    wrong = [one for one in row.checks if one["status"] == "failed"]
    assert wrong
    assert all(one["message"] in said for one in wrong)
    capped = replace(row, checks=({**wrong[0], "status": "passed"},))
    assert any(CAPPED in line for line in explain(folder, report, capped))
    assert not any(CAPPED in line for line in explain(folder, report, row))
    hinted = {**wrong[0], "hint": "Look again."}
    twice = "\n".join(explain(folder, report, replace(row, checks=(hinted, hinted))))
    assert twice.count(wrong[0]["title"]) == 2 and twice.count("Look again.") == 1
    waiting = list(explain(folder, report, replace(row, status="not graded")))
    assert waiting[1] == "  Grade it: course grade 01 --student mistake-1"
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as gradebook:
        gradebook.add_student("absent")
        gradebook.add_submission(UNIT, "absent")
        spoken = gradebook.find_grade("why", UNIT, UNIT, "absent")
        spoken.manual_score, spoken.needs_manual_grade = 12, False
        gradebook.db.commit()
    said = course(graded, "explain", "absent", "1")
    assert "Status: missing\nFile: none was handed in\n" in said
    assert "why: 12 of 30, by hand\n" in said
    words = course(graded, "explain", "perfect-on", "1", status=2)
    assert "no student 'perfect-on': did you mean perfect-one?" in words
    words = course(graded, "explain", "zzz", "1", status=2)
    assert "no student 'zzz': collect it first." in words


def test_before_grading_it_says_what_to_do(classroom: Path) -> None:
    words = course(classroom, "explain", "perfect-one", "1", status=2)
    assert "run `course grade" in words


@pytest.mark.parametrize(
    ("record", "due", "words"),
    [
        (replace(ZIPPED, handed_in="2026-11-01 10:00:00"), DUE, "the table given with"),
        (replace(ZIPPED, file=None), DUE, "the time of the file itself"),
        (ZIPPED, None, "unknown, because the archive has no time"),
        (replace(ZIPPED, late=True), DUE, "the due date plus 1 second"),
        (ZIPPED, DUE, "whichever is earlier"),
    ],
)
def test_the_origin_of_a_time(record: Record, due: datetime, words: str) -> None:
    assert words in record.origin_of_time(due)
    assert bool(record.time(due)) != ("unknown" in words)


@pytest.mark.parametrize(
    ("rule", "seconds", "words"),
    [
        (LateRule(minutes_of_grace=15), 600, "within the 15 minutes of grace: 0 %"),
        (LateRule(10, 5), 1, "5 % once + 1 day begun × 10 %, at most 100 %: 15 %"),
        (LateRule(10, 0, 30), 9 * DAY, "9 days begun × 10 %, at most 30 %: 30 %"),
    ],
)
def test_the_late_rule_in_words(rule: LateRule, seconds: float, words: str) -> None:
    assert words in rule.explanation(seconds)
    assert rule.explanation(seconds).endswith(f" {100 * rule.share(seconds):g} %")
