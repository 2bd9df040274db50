"""The marks of an oral exam come back from the table, and none is lost."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import CourseError
from autograder.viva.marks import marks_path, read_marks, shown, take, write_marks

UNIT = "04_attention"


def test_marks_come_back_as_excel_saves_them(tmp_path: Path) -> None:
    table = tmp_path / "marks.csv"
    write_marks(table, ["=ann", "bo", "cem"])
    assert "'=ann,,," in table.read_text("utf-8-sig")
    text = table.read_text("utf-8-sig").replace("=ann,,,", "=ann,2,1,0")
    table.write_text(text.replace("bo,,,", "bo,1,,").replace(",", ";"))
    assert take(tmp_path, UNIT, table, {"=ann", "bo", "cem"}) == 2
    taken = read_marks(marks_path(tmp_path, UNIT))
    assert taken == {"=ann": ["2", "1", "0"], "bo": ["1", "", ""]}
    table.write_text("student,question 1,question 2,question 3\nbo,2,2,2\n=ann,,,\n")
    assert take(tmp_path, UNIT, table, {"=ann", "bo"}) == 1
    taken = read_marks(marks_path(tmp_path, UNIT))
    assert taken == {"=ann": ["2", "1", "0"], "bo": ["2", "2", "2"]}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("ann,3,,", "row 3: expected 0, 1, 2 or nothing in the columns question 1"),
        ("nobody,1,,", "found nobody. Correct the column student"),
    ],
)
def test_a_wrong_row_is_named_and_nothing_is_taken(row, words, tmp_path) -> None:
    table = tmp_path / "marks.csv"
    table.write_text(f"student,question 1,question 2,question 3\nann,2,2,2\n{row}\n")
    with pytest.raises(CourseError, match=words):
        take(tmp_path, UNIT, table, {"ann"})
    assert not marks_path(tmp_path, UNIT).exists()


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    table = tmp_path / "marks.csv"
    with pytest.raises(CourseError, match="is not there"):
        take(tmp_path, UNIT, table, {"ann"})
    table.write_text("student,question 1\nann,2\n")
    with pytest.raises(CourseError, match="question 2"):
        take(tmp_path, UNIT, table, {"ann"})


def test_a_new_table_keeps_the_marks_of_the_old_one(tmp_path: Path) -> None:
    table = tmp_path / "marks.csv"
    write_marks(table, ["ann"], {"ann": ["1", "1", "1"]})
    old = read_marks(table)
    write_marks(table, ["ann", "bo"], {"ann": ["0", "0", "0"]}, old)
    assert read_marks(table) == {"ann": ["1", "1", "1"], "bo": [""] * 3}


def test_marks_in_words() -> None:
    assert shown(["2", "1", "0"]) == "2 + 1 + 0 = 3"
    assert shown(["2", "", "0"]) == "2 + – + 0"
    assert shown(()) == ""


def test_the_command_says_which_table_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "submitted" / "ann" / UNIT).mkdir(parents=True)
    (tmp_path / "submitted" / "ann" / UNIT / f"{UNIT}.ipynb").write_text("{}")
    table = tmp_path / "marks.csv"
    table.write_text("student,question 1,question 2,question 3\nann,many,,\n")
    words = ["viva", "04", "--take", str(table), "--course-root", str(tmp_path)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and "Nothing of this table was taken." in done.output
    table.write_text(table.read_text().replace("many", "2"))
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and "took the marks of 1 student." in done.output
    assert read_marks(marks_path(tmp_path, UNIT)) == {"ann": ["2", "", ""]}
