"""A class gets its sheets, and a hostile notebook damages only its own sheet."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner
from viva_students import UNIT_04, hand_in, proof, styled

from autograder.commands.app import app
from autograder.sandbox.limits import Limits
from autograder.viva.marks import read_marks
from autograder.viva.pages import returned, write_sheets
from autograder.viva.sheets import CALLS, make_sheet

pytestmark = pytest.mark.integration
HOSTILE = {
    "ends": "def {name}(*inputs):\n    import os\n    os._exit(0)\n",
    "loops": "def {name}(*inputs):\n    while True:\n        pass\n",
}


def course(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in ("viva", *words)])
    return f"{done.exit_code} {done.output}"


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_function_is_not_asked_about_and_the_others_are(
    how, solution, tmp_path
):
    unit, limits = proof(UNIT_04).graded, Limits(exercise_seconds=1)
    source = HOSTILE[how].format(name="softmax_entropy")
    hostile = hand_in(tmp_path, "hostile", styled(1) | {"softmax-entropy": source})
    asked = {
        one.function for one in make_sheet(solution, unit, hostile, limits).questions
    }
    assert asked and "softmax_entropy" not in asked
    honest = hand_in(tmp_path, "honest", styled(1))
    assert len(make_sheet(solution, unit, honest, Limits()).questions) == 3


def test_the_command_writes_both_pages_and_the_quiz(tmp_path):
    source = styled(0)["masked-softmax"].replace(
        "return ", "name = '<script>x</script>'\n    return ", 1
    )
    hand_in(tmp_path, "=ann", styled(0) | {"masked-softmax": source})
    hand_in(tmp_path, "bo", {})
    hand_in(tmp_path, "cem", {}).path.write_text("{")
    said = course("04", "--course-root", tmp_path)
    assert said.startswith("0 ") and "1 of 3 sheets have questions" in said
    page, answers, quiz = (
        (tmp_path / "report" / f"{UNIT_04}-viva{end}").read_text("utf-8-sig")
        for end in (".html", "-answers.html", "-quiz.csv")
    )
    assert page.count("<article>") == answers.count("<article>") == 3
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "instead of" in answers and "instead of" not in page
    assert answers.count("Cause: The change turns") == 3 and "Cause:" not in page
    assert "identity(layer)" not in page  # no input of this unit uses it
    assert answers.count("The student has written no answer.") == 1
    rows = list(csv.DictReader(quiz.splitlines(keepends=True)))
    assert [row["student"] for row in rows] == ["'=ann"] * 3
    table = tmp_path / "report" / f"{UNIT_04}-viva-marks.csv"
    assert read_marks(table) == {"=ann": [""] * 3}
    for row in rows:
        assert "Suppose it were" in row["question"] and "\nA: " in row["question"]
        assert row["right answer"] and row["wrong choice 1"]


def test_only_the_chosen_students_get_a_sheet(tmp_path):
    hand_in(tmp_path, "ann", {})
    hand_in(tmp_path, "bo", {})
    kept = tmp_path / f"{UNIT_04}-viva.html"
    kept.write_text("the whole class")
    said = course("04", "--student", "bo", "--course-root", tmp_path, "--to", tmp_path)
    assert said.startswith("0 ") and "0 of 1 sheets have questions" in said
    assert kept.read_text() == "the whole class"
    page = (tmp_path / f"{UNIT_04}-bo-viva.html").read_text("utf-8")
    assert "The student has written no answer." in page
    assert "ann" not in page


def test_a_chosen_student_without_work_is_named_and_the_others_get_a_sheet(tmp_path):
    hand_in(tmp_path, "ann", {})
    said = course("04", "--student", "cem", "--course-root", tmp_path)
    named = f"cem has handed in nothing of {UNIT_04}: look into submitted/."
    assert said.startswith("2 ") and named in said
    assert not list(tmp_path.glob("report/*viva*"))
    both = "--student", "cem", "--student", "ann"
    said = course("04", *both, "--course-root", tmp_path)
    assert said.startswith("0 ") and named in said
    assert "0 of 1 sheets have questions" in said
    page = (tmp_path / "report" / f"{UNIT_04}-ann-viva.html").read_text("utf-8")
    assert "ann" in page and "cem" not in page


def test_long_ids_give_a_short_name_that_depends_on_all_of_them(tmp_path):
    students = [f"student-with-a-long-id-{number}" for number in range(8)]
    unit = proof(UNIT_04).graded
    one, other = (
        write_sheets(tmp_path, unit, [], tmp_path, ids)[0].name
        for ids in (students, students[:7])
    )
    assert one != other and max(map(len, (one, other))) < 120
    assert one.startswith(f"{UNIT_04}-student-with-a-long-id-0-and-more-")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["03"], "Unit 03 has no sheets: only the units 04, 05, 06, 07, 10 have them."),
        (["04"], "run `course collect` first"),
        (["99"], "99"),
    ],
)
def test_without_sheets_the_command_says_why(words, message, tmp_path):
    said = course(*words, "--course-root", tmp_path)
    assert said.startswith("2 ") and message in said
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "grading"])


def test_the_answers_name_the_axes():
    unit = proof(UNIT_04).graded
    assert returned(unit, "attention_scores").startswith("Scores (..., t, s)")
    assert "(b, t, d_model)" in returned(proof("05").graded, "MultiHeadAttention")
    assert all(returned(unit, name) for name in CALLS[UNIT_04])
