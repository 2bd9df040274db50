"""Points off for late work: a rule, an extension, and points added later."""

from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from tiny_grading import UNIT, grade, only, submission
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import converter
from autograder.commands.app import app
from autograder.course import CourseError
from autograder.late_rule import LateRule, renew_penalties

DAY = 86_400


@pytest.mark.parametrize(
    ("rule", "seconds", "share"),
    [
        (LateRule(), DAY, 0),
        (LateRule(percent_a_day=10), 1, 0.1),
        (LateRule(percent_a_day=10), 2 * DAY, 0.2),
        (LateRule(percent_a_day=10), 2 * DAY + 1, 0.3),
        (LateRule(percent_a_day=10, percent_at_most=50), 30 * DAY, 0.5),
        (LateRule(percent_a_day=60), 30 * DAY, 1),
        (LateRule(percent_once=20), 1, 0.2),
        (LateRule(percent_once=20, percent_a_day=5), 30 * DAY, 1),
        (LateRule(percent_once=20, minutes_of_grace=15), 900, 0),
        (LateRule(percent_once=20, minutes_of_grace=15), 901, 0.2),
    ],
)
def test_the_share_that_being_late_takes(rule, seconds, share):
    assert rule.share(seconds) == pytest.approx(share)


@pytest.mark.parametrize(
    ("line", "words"),
    [("percent = 5", "'percent' is unknown"), ("percent_once = -1", "0 or more"),
     ("percent_once = '5'", "expected a number")],
)  # fmt: skip
def test_a_wrong_rule_is_named(tiny_class: Path, line: str, words: str) -> None:
    path = tiny_class / "autograder" / "course.toml"
    path.write_text(f"{path.read_text()}\n[late]\n{line}\n")
    with pytest.raises(CourseError, match=words):
        ClassFolder(tiny_class)


def penalty(root: Path, student: str) -> float:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        found = gradebook.find_submission(UNIT, student).late_submission_penalty
        return round(found or 0, 2)


def course(root: Path, *words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, [*words, "--course-root", str(root)])
    assert done.exit_code == status, done.output
    return " ".join(done.output.split())


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_without_a_due_date_there_is_nothing_to_extend(tiny_class: Path) -> None:
    """An extension without a date makes nbgrader and all later commands fail."""
    folder = ClassFolder(tiny_class)
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.add_student("ada")
    words = course(tiny_class, "extend", "ada", "01", "1", status=2)
    assert f"{UNIT} has no due date to extend: set one, as in `nbgrader db" in words
    with Gradebook(folder.db_url) as gradebook:
        assert gradebook.assignment_submissions(UNIT) == []
        gradebook.update_or_create_submission(UNIT, "ada").extension = timedelta(days=1)
        gradebook.db.commit()
    assert not renew_penalties(converter(folder), UNIT)
    assert "ada has no extension for" in course(tiny_class, "extend", "ada", "01", "0")


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_an_extension_may_come_before_the_first_submission(tiny_class: Path) -> None:
    folder = ClassFolder(tiny_class)
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-11-01 00:00:00 UTC")
    words = course(tiny_class, "extend", "ada", "01", "1")
    assert "until 2026-11-02 00:00 UTC. The gradebook knew no student before" in words
    words = course(tiny_class, "extend", "adda", "01", "1", status=2)
    assert "knows no student 'adda'" in words


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "1e12"])
def test_days_that_are_none_are_refused(tiny_class: Path, days: str) -> None:
    done = CliRunner().invoke(app, ["extend", "ada", "01", "--", days])
    assert (done.exit_code, "Invalid value for 'days'" in done.output) == (2, True)


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_rule_extension_and_points_by_hand(classroom: Path) -> None:
    only(classroom, "perfect-one")
    stamp = submission(classroom, "perfect-one").with_name("timestamp.txt")
    stamp.write_text("2026-11-02 12:00:00 UTC")
    assert grade(classroom).exit_code == 0
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        due = "2026-11-01 00:00:00 UTC"
        gradebook.update_or_create_assignment(UNIT, duedate=due)
    path = classroom / "autograder" / "course.toml"
    path.write_text(f"{path.read_text()}\n[late]\npercent_a_day = 10\n")
    page = classroom / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    said = grade(classroom).output
    assert "as before" in said  # the change does not need a new grading
    assert penalty(classroom, "perfect-one") == 14
    assert "penalty (Score: -14.0)" in page.read_text()
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        gradebook.find_grade("why", UNIT, UNIT, "perfect-one").manual_score = 30
        gradebook.db.commit()
    grade(classroom)
    assert penalty(classroom, "perfect-one") == 20
    report = course(classroom, "report", "01")
    assert "1 of 1 graded" in report
    shown = (classroom / "report" / f"{UNIT}.html").read_text()
    assert "−20" in shown
    assert f"../feedback/perfect-one/{UNIT}/{UNIT}.html" in shown
    said = course(classroom, "extend", "perfect-one", "01", "1")
    assert "until 2026-11-02 00:00 UTC" in said
    assert penalty(classroom, "perfect-one") == 10
    assert "penalty (Score: -10.0)" in page.read_text()
    course(classroom, "extend", "perfect-one", "01", "2")
    assert penalty(classroom, "perfect-one") == 0
    course(classroom, "extend", "perfect-one", "01", "0")
    assert penalty(classroom, "perfect-one") == 20
    assert grade(classroom, "--force").exit_code == 0
    assert penalty(classroom, "perfect-one") == 20
    words = course(classroom, "extend", "nobody", "01", "1", status=2)
    assert "knows no student 'nobody'" in words
