"""One setting decides how written answers count, and one command applies it."""

import csv
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook
from tiny_grading import EXPECTED, UNIT, cells, grade, only, scores, submission
from typer.testing import CliRunner

from autograder import gradebook
from autograder.commands.app import app
from autograder.course import CourseError, load_course

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
TWO = ("perfect-one", "mistake-1", "half-done")
OWN = (
    "Doubling is adding a number to itself. Whoever adds nothing to nothing still has "
    "nothing at all, since zero is the neutral element of addition; our FACTOR "
    "changes only what is there, and the exercise shows that a double of nothing stays "
    "nothing, however often we repeat quadruple steps."
)


def set_mode(root: Path, mode: str) -> None:
    """Write the setting as an instructor does."""
    path = root / "autograder" / "course.toml"
    text = re.sub(r"^written_answers.*\n", "", path.read_text(), flags=re.M)
    path.write_text(f'written_answers = "{mode}"\n{text}')


def write(root: Path, student: str, text: str) -> None:
    path = submission(root, student)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "why":
            cell["source"] = text
    path.write_text(json.dumps(notebook))


def graded(root: Path, mode: str, *words: str) -> str:
    set_mode(root, mode)
    done = grade(root, *words)
    assert done.exit_code == 0, done.output
    return done.output


def report(root: Path) -> str:
    done = CliRunner().invoke(app, ["report", "01", "--course-root", str(root)])
    assert done.exit_code == 0, done.output
    return done.output


def table(root: Path, platform: str) -> list[list[str]]:
    path = root / "report" / f"{UNIT}-{platform}.csv"
    return list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))


def page(root: Path, student: str) -> BeautifulSoup:
    path = root / "feedback" / student / UNIT / f"{UNIT}.html"
    return BeautifulSoup(path.read_text(), "html.parser")


def contents(root: Path, student: str) -> list[str]:
    return [" ".join(one.get_text().split()) for one in page(root, student)("li")]


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Process a class in several steps, like a large class."""
    monkeypatch.setattr(gradebook, "AT_ONCE", 2)


@pytest.fixture
def three(classroom: Path) -> Path:
    """Return a class of three. One wrote much, one little, one nothing."""
    only(classroom, *TWO)
    write(classroom, "perfect-one", OWN)
    write(classroom, "half-done", "YOUR ANSWER HERE")
    return classroom


def test_with_substance_one_command_gives_final_scores(three):
    printed = graded(three, "substance")
    assert "1 written answers have substance, 2 have none" in printed
    assert scores(three)["perfect-one"] == 100
    assert scores(three)["mistake-1"] == EXPECTED["mistake-1"]
    assert not any(needs for _, _, needs in cells(three).values())
    assert "await" not in report(three)
    given = {row[2]: row[4] for row in table(three, "canvas")[2:]}
    assert given["perfect-one"] == "100"
    assert "Why (Score: 30.0 / 30.0)" in contents(three, "perfect-one")
    assert "of substance earns full points" in page(three, "perfect-one").get_text()
    words = page(three, "mistake-1").get_text()
    assert "words of its own and needs 30" in words
    shown = (three / "report" / f"{UNIT}.html").read_text()
    assert "why: The answer has" in shown


def test_a_neighbours_answer_is_named_to_the_instructor_alone(three):
    write(three, "mistake-1", OWN.replace("nothing", "zero"))
    write(three, "half-done", OWN)
    graded(three, "substance")
    assert scores(three) == {one: EXPECTED[one] for one in TWO}
    assert "mistake-1" not in page(three, "perfect-one").get_text()
    report(three)
    shown = (three / "report" / f"{UNIT}.html").read_text()
    assert "It is similar to the answer of half-done, mistake-1." in shown


@pytest.mark.slow
def test_a_later_submission_changes_what_its_neighbour_has(three):
    graded(three, "substance")
    assert scores(three)["perfect-one"] == 100
    write(three, "mistake-1", OWN)
    graded(three, "substance", "--student", "mistake-1")
    assert scores(three)["perfect-one"] == 70
    assert "nearly the same words" in page(three, "perfect-one").get_text()


def test_uncounted_answers_scale_the_rest_and_every_page_says_so(three):
    graded(three, "uncounted")
    assert scores(three) == {one: EXPECTED[one] for one in TWO}  # out of 70
    assert not any(needs for _, _, needs in cells(three).values())
    sentence = "the score out of 70 is scaled to 100"
    assert sentence in report(three)
    assert sentence in (three / "report" / f"{UNIT}.html").read_text()
    canvas, moodle = table(three, "canvas"), table(three, "moodle")
    assert canvas[1][4] == "100"
    given = {row[2]: row[4] for row in canvas[2:]}
    assert given == {"perfect-one": "100", "half-done": "42.86", "mistake-1": "80.96"}
    assert moodle[0][5] == f"Feedback: {UNIT}"
    assert sentence in moodle[1][5]
    words = page(three, "half-done").select_one("#how-it-counts").get_text()
    assert words.endswith("Yours is 42.86 of 100.")
    assert "Why (does not count)" in contents(three, "half-done")


def test_marks_by_hand_come_back_with_the_setting(three):
    graded(three, "by-hand")
    with Gradebook(f"sqlite:///{three}/gradebook.db") as gradebook:
        given = gradebook.find_grade("why", UNIT, UNIT, "mistake-1")
        given.manual_score, given.needs_manual_grade = 12, False
        gradebook.db.commit()
    before, by_hand = cells(three), scores(three)
    graded(three, "uncounted")
    assert scores(three)["mistake-1"] == EXPECTED["mistake-1"]
    graded(three, "substance")
    assert scores(three)["mistake-1"] == EXPECTED["mistake-1"] + 12
    graded(three, "by-hand")
    assert scores(three) == by_hand
    mine = ("mistake-1", "why")
    assert cells(three)[mine] == before[mine] == (None, 12, False)
    assert "not graded yet" in page(three, "perfect-one").get_text()


def test_a_table_of_marks_counts_only_where_written_answers_do(three):
    graded(three, "uncounted")
    before = scores(three)
    path = three / "mine.csv"
    path.write_text("student,question,points,comment\nmistake-1,why,12,\n")
    words = ["marks", "01", "--course-root", str(three)]
    done = CliRunner().invoke(app, [*words, "--take", str(path)])
    assert done.exit_code == 0, done.output
    assert scores(three) == before
    assert "(Score: 84.0" not in page(three, "mistake-1").get_text()
    assert CliRunner().invoke(app, words).exit_code == 0
    text = (three / "marks" / f"{UNIT}.csv").read_text("utf-8-sig")
    given = {row["student"]: row["points"] for row in csv.DictReader(text.splitlines())}
    assert given["mistake-1"] == "12"
    graded(three, "by-hand")
    assert scores(three)["mistake-1"] == before["mistake-1"] + 12


@pytest.mark.slow
def test_points_by_click_that_do_not_count_are_in_no_report(three):
    graded(three, "uncounted")
    with Gradebook(f"sqlite:///{three}/gradebook.db") as gradebook:
        gradebook.find_grade("why", UNIT, UNIT, "half-done").manual_score = 12
        gradebook.db.commit()
    report(three)
    given = {row[2]: row[4] for row in table(three, "canvas")[2:]}
    assert given["half-done"] == "42.86"
    graded(three, "by-hand")
    assert scores(three)["half-done"] == EXPECTED["half-done"] + 12


def test_grading_again_changes_nothing(three):
    graded(three, "substance")
    before = cells(three)
    graded(three, "substance", "--force")
    assert cells(three) == before


def test_a_unit_may_have_its_own_setting_and_a_wrong_one_is_named(classroom):
    path = classroom / "autograder" / "course.toml"
    text = path.read_text()
    path.write_text(f'{text}written_answers = "uncounted"\n')
    assert load_course(classroom).units[0].written_answers == "uncounted"
    path.write_text(f'{text}written_answers = "no"\n')
    with pytest.raises(CourseError, match="'no' of 01_tiny: expected one of by-hand"):
        load_course(classroom)
