"""Score changes: a corrected due date, a dry run, and the command's output."""

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from tiny_grading import UNIT, grade, only, scores, submission
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect.submission_store import Record, SubmissionStore, sha256
from autograder.commands.app import app
from autograder.marks import Marks
from autograder.score_changes import score_changes, sentence_about
from autograder.unit import graded_unit
from autograder.written.up_to_date import bring_up_to_date

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
DUE = datetime(2026, 11, 1, 23, 59, tzinfo=UTC)


def set_due(root: Path, due: datetime) -> None:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate=due.replace(tzinfo=None))


def late_rule(root: Path) -> None:
    path = root / "autograder" / "course.toml"
    path.write_text(f"{path.read_text()}\n[late]\npercent_a_day = 10\n")


def collect(root: Path, student: str, *, late: bool, due: datetime) -> None:
    """Collect a notebook as Canvas sends it: with a number, LATE or not, no time."""
    store = SubmissionStore(root, root / "submitted", student, UNIT)
    content = submission(root, student).read_bytes()
    when = "2026-11-03 08:00:00"  # time of the archive
    name = f"{student}_10_20_{UNIT}.ipynb"
    store.keep(Record(sha256(content), when, name, file=20, late=late), content)
    store.install(due)


@pytest.fixture
def canvas_class(classroom: Path) -> Path:
    """Grade a class with one submission on time and one late submission."""
    only(classroom, "perfect-one", "mistake-1")
    late_rule(classroom)
    ClassFolder(classroom).register(UNIT)
    set_due(classroom, DUE)
    collect(classroom, "perfect-one", late=False, due=DUE)
    collect(classroom, "mistake-1", late=True, due=DUE)
    assert grade(classroom).exit_code == 0
    return classroom


def test_a_corrected_due_date_makes_nobody_late(canvas_class: Path) -> None:
    before = scores(canvas_class)
    assert before == {"perfect-one": 70, "mistake-1": 56.67}
    set_due(canvas_class, DUE - timedelta(hours=9))
    done = grade(canvas_class)
    assert done.exit_code == 0
    assert "as before" in done.output  # the time does not cause a new grading
    assert "has changed" not in done.output
    stamp = submission(canvas_class, "perfect-one").with_name("timestamp.txt")
    assert stamp.read_text() == "2026-11-01 14:59:00 UTC\n"


def test_a_time_that_was_written_by_hand_stays(canvas_class: Path) -> None:
    stamp = submission(canvas_class, "perfect-one").with_name("timestamp.txt")
    stamp.write_text("2026-11-02 12:00:00 UTC\n")
    done = grade(canvas_class)
    words = " ".join(done.output.split())
    assert f"{UNIT}: 1 score has changed (1 lower). The largest change: " in words
    assert "perfect-one, 70 → 63 (late penalty 0 → 7)." in words
    assert stamp.read_text() == "2026-11-02 12:00:00 UTC\n"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hours=st.lists(st.integers(-90, 90), max_size=4), last=st.integers(-90, 90))
def test_moving_the_due_date_is_as_collecting_anew(
    canvas_class: Path, hours: list[int], last: int
) -> None:
    folder, unit = ClassFolder(canvas_class), graded_unit(UNIT, canvas_class)
    for moved in [*hours, last]:
        set_due(canvas_class, DUE + timedelta(hours=moved))
        bring_up_to_date(folder, unit)
    found = penalties(canvas_class)
    due = DUE + timedelta(hours=last)
    for student in ("perfect-one", "mistake-1"):
        place = SubmissionStore(canvas_class, canvas_class / "submitted", student, UNIT)
        place.install(due)
    bring_up_to_date(folder, unit)
    assert found == penalties(canvas_class) == {"perfect-one": 0, "mistake-1": 5.67}


def penalties(root: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            one.student.id: round(one.late_submission_penalty or 0, 2)
            for one in gradebook.assignment_submissions(UNIT)
        }


def test_a_changed_submission_is_told_and_written_down(canvas_class: Path) -> None:
    right = submission(canvas_class, "perfect-one").read_bytes()
    submission(canvas_class, "mistake-1").write_bytes(right)
    words = " ".join(grade(canvas_class, "--dry-run").output.split())
    assert "mistake-1: 51 → 63 (checks: " in words
    assert "Dry run: a copy is graded, and nothing here changes." in words
    assert "1 score would change (1 higher). The largest change: mistake-1" in words
    assert penalties(canvas_class)["mistake-1"] == 5.67
    assert not list(canvas_class.glob("grading/changes/*"))
    words = " ".join(grade(canvas_class).output.split())
    assert "1 score has changed (1 higher). The largest change: mistake-1" in words
    (table,) = canvas_class.glob("grading/changes/*.csv")
    (row,) = csv.DictReader(table.read_text("utf-8-sig").splitlines())
    assert (row["student"], row["before"], row["after"]) == ("mistake-1", "51", "63")
    assert "mistake-1" in table.with_suffix(".html").read_text("utf-8")
    assert "has changed" not in grade(canvas_class).output
    assert "no score would change." in grade(canvas_class, "--dry-run").output


def test_an_extension_says_whose_score_it_changes(canvas_class: Path) -> None:
    words = ["extend", "mistake-1", "01", "1", "--course-root", str(canvas_class)]
    done = CliRunner().invoke(app, words)
    said = " ".join(done.output.split())
    assert "mistake-1, 51 → 56.67 (late penalty 5.67 → 0)." in said


def test_a_report_says_which_scores_it_changes(canvas_class: Path) -> None:
    stamp = submission(canvas_class, "perfect-one").with_name("timestamp.txt")
    stamp.write_text("2026-11-02 12:00:00 UTC\n")
    words = ["report", "01", "--course-root", str(canvas_class)]
    said = " ".join(CliRunner().invoke(app, words).output.split())
    assert "perfect-one, 70 → 63 (late penalty 0 → 7)." in said
    page = canvas_class / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    assert "penalty (Score: -7.0)" in page.read_text("utf-8")


def test_submissions_without_a_time_are_counted(canvas_class: Path) -> None:
    with Gradebook(f"sqlite:///{canvas_class}/gradebook.db") as gradebook:
        for one in gradebook.assignment_submissions(UNIT):
            one.timestamp = None
        gradebook.db.commit()
    for path in canvas_class.glob("submitted/*/*/timestamp.txt"):
        path.unlink()
    for path in canvas_class.glob("collected/*/*/submissions.json"):
        path.unlink()
    said = " ".join(grade(canvas_class).output.split())
    assert "no hand-in time is known for 2 submissions." in said


def test_a_dry_run_needs_a_gradebook_that_it_can_copy(canvas_class: Path) -> None:
    settings = canvas_class / "nbgrader_config.py"
    address = f"sqlite:///{canvas_class.parent}/elsewhere.db"
    more = f"\nc.CourseDirectory.db_url = {json.dumps(address)}\n"
    settings.write_text(settings.read_text() + more)
    done = grade(canvas_class, "--dry-run")
    assert done.exit_code == 2
    assert "A dry run needs a gradebook in the class's folder" in done.output


def test_causes_name_checks_points_by_hand_and_lateness() -> None:
    old = Marks({"a-check": 1.0}, {"a-check": 1.0, "why": 3.0}, 4.0, 0.0)
    new = Marks({"a-check": 2.0}, {"a-check": 2.0, "why": 1.0}, 2.5, 0.5)
    (one,) = score_changes({"ada": old, "bo": Marks()}, {"ada": new, "bo": new})
    assert one.cause == "checks: a; points by hand: why; late penalty 0 → 0.5"
    assert sentence_about("04", [one]).startswith("04: 1 score has changed (1 lower)")
    (gone,) = score_changes({"ada": old}, {})
    assert gone.cause == "no longer graded"
