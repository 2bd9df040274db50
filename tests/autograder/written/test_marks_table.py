"""Points by hand in a spreadsheet: reading a table gives the intended points."""

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sets import first_of
from tiny_grading import EXPECTED, UNIT, cells, grade, only, scores, submission
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.commands.app import app
from autograder.written.filled_in import kept_comments

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
THREE = ("half-done", "mistake-1", "perfect-one")


BEGINNINGS = dict(zip(THREE, ("As the", "Since the", "Because the"), strict=True))


@pytest.fixture(scope="module")
def graded(make_classroom: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grade a class of three, each with a different answer."""
    root = make_classroom(tmp_path_factory.mktemp("graded") / "class")
    only(root, *THREE)
    for student, words in BEGINNINGS.items():
        path = submission(root, student)
        path.write_text(path.read_text().replace("Because the", words))
    assert grade(root).exit_code == 0
    return root


@pytest.fixture
def marked(graded: Path, tmp_path: Path) -> Path:
    """Return a copy of the graded class."""
    return shutil.copytree(graded, tmp_path / "class")


def make_answers_equal(root: Path) -> None:
    for student, words in BEGINNINGS.items():
        path = root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
        path.write_text(path.read_text().replace(words, "Because the"))


def course(root: Path, *words: object, status: int = 0) -> str:
    command = [str(word) for word in words]
    done = CliRunner().invoke(app, [*command, "--course-root", str(root)])
    assert done.exit_code == status, done.output
    return " ".join(done.output.split())


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))


def fill(path: Path, found: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, found[0], delimiter=";")  # as Excel does it
        writer.writeheader()
        writer.writerows(found)


def comment(root: Path, student: str) -> str | None:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return gradebook.find_comment("why", UNIT, UNIT, student).manual_comment


def test_points_and_comments_come_back(marked):
    assert grade(marked).exit_code == 0  # the copy's pages are then up to date
    assert "Rubric:" in course(marked, "marks", "01")
    path = marked / "marks" / f"{UNIT}.csv"
    table = rows(path)
    assert {row["student"] for row in table} == set(THREE)
    assert {(row["question"], row["of"]) for row in table} == {("why", "30")}
    assert "products of longer vectors" in " ".join(row["answer"] for row in table)
    (marked / "comments.csv").write_text("code,text\nzero,Zero is neutral.\n")
    for row in table:
        if row["student"] != "half-done":
            row["points"] = {"mistake-1": "12,5", "perfect-one": "30"}[row["student"]]
    table[0]["comment"] = "@zero See @nothing. =1+1"
    fill(path, table)
    said = course(marked, "marks", "01", "--take", path)
    assert "3 rows read" in said
    assert "2 scores have changed (2 higher). The largest change: perfect-one" in said
    assert "(points by hand: why)" in said
    assert "warning: @nothing: not in comments.csv, left as written" in said
    expected = {one: EXPECTED[one] for one in THREE}
    expected["mistake-1"] += 12.5
    expected["perfect-one"] += 30
    assert scores(marked) == pytest.approx(expected)
    open_cells = [key for key, (_, _, is_open) in cells(marked).items() if is_open]
    assert open_cells == [("half-done", "why")]
    who = table[0]["student"]
    assert comment(marked, who) == "Zero is neutral. See @nothing. =1+1"
    page = marked / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    assert "(Score: 30.0 / 30.0)" in page.read_text()
    before = cells(marked)
    course(marked, "marks", "01")  # when written again, it shows the gradebook's points
    assert "0 of them new" in course(marked, "marks", "01", "--take", path)
    assert cells(marked) == before


def test_an_answer_may_hold_any_line_separator(marked):
    """Text pasted from elsewhere may contain U+2028, which does not end a row."""
    course(marked, "marks", "01")
    path = marked / "marks" / f"{UNIT}.csv"
    table = rows(path)
    for row in table:
        row |= {"points": "3", "answer": "one\u2028two"}
    fill(path, table)
    assert "3 rows read, 3 of them new" in course(marked, "marks", "01", "--take", path)


@pytest.mark.parametrize(
    "text", ["zero;Zero, and no more, is neutral.\n", 'zero\t"Zero is\nneutral."\n']
)
def test_comments_are_parted_as_spreadsheets_part_them(marked, text):
    (marked / "comments.csv").write_text(text, "utf-8-sig")
    (kept,) = kept_comments(ClassFolder(marked)).values()
    assert kept.startswith("Zero") and kept.endswith("neutral.")


def test_comments_in_another_code_are_a_sentence(marked):
    course(marked, "marks", "01")
    (marked / "comments.csv").write_bytes("null;Größe".encode("latin-1"))
    path = marked / "marks" / f"{UNIT}.csv"
    said = course(marked, "marks", "01", "--take", path, status=2)
    assert "comments.csv is not in UTF-8" in said and "Nothing was taken" in said


def test_graders_share_the_answers_and_see_no_names(marked):
    course(marked, "marks", "01", "--among", "ann,bo", "--anonymous")
    tables = [rows(marked / "marks" / f"{UNIT}-{who}.csv") for who in ("ann", "bo")]
    assert [len(table) for table in tables] == [2, 1]
    texts = [path.read_text() for path in (marked / "marks").iterdir()]
    assert not any(name in text for name in THREE for text in texts)
    for grader, table in zip(("ann", "bo"), tables, strict=True):
        for row in table:
            row["points"] = "3"
        fill(marked / "marks" / f"{UNIT}-{grader}.csv", table)
    paths = [marked / "marks" / f"{UNIT}-{who}.csv" for who in ("ann", "bo")]
    course(marked, "marks", "01", "--take", paths[0], "--take", paths[1])
    assert scores(marked) == pytest.approx({one: EXPECTED[one] + 3 for one in THREE})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": "31"}, "expected points, 0 to 30"),
        ({"points": "many"}, "'many': expected points"),
        ({"points": "nan"}, "expected points"),
        ({"student": "nobody"}, "nobody is called 'nobody'"),
        ({"question": "whence"}, "there is no question 'whence': why"),
    ],
)
def test_a_table_with_a_slip_changes_nothing(marked, change, words):
    course(marked, "marks", "01")
    path, before = marked / "marks" / f"{UNIT}.csv", cells(marked)
    table = [{**row, "points": "5"} for row in rows(path)]
    table[1] |= change
    fill(path, table)
    said = course(marked, "marks", "01", "--take", path, status=2)
    assert words in said
    assert said.endswith("Nothing was taken.")
    assert cells(marked) == before


def test_all_slips_of_all_tables_are_named_at_once(marked):
    course(marked, "marks", "01", "--among", "ann,bo")
    paths = [marked / "marks" / f"{UNIT}-{who}.csv" for who in ("ann", "bo")]
    for path in paths:
        fill(path, [{**row, "points": "many"} for row in rows(path)])
    said = course(
        marked, "marks", "01", "--take", paths[0], "--take", paths[1], status=2
    )
    for place in (f"{paths[0]}, row 2", f"{paths[0]}, row 3", f"{paths[1]}, row 2"):
        assert f"{place}: 'many': expected points, 0 to 30." in said


def test_a_table_that_is_not_there_is_a_sentence(marked, tmp_path):
    said = course(marked, "marks", "01", "--take", tmp_path / "no.csv", status=2)
    assert said == f"{tmp_path / 'no.csv'} is not there: look at the path."
    path = tmp_path / "latin.csv"
    path.write_bytes("student;é".encode("latin-1"))
    said = course(marked, "marks", "01", "--take", path, status=2)
    assert said.endswith("in Excel as `CSV UTF-8`. Nothing was taken.")


def test_where_nothing_is_graded_there_is_no_table(marked):
    shutil.rmtree(marked / "autograded")
    said = course(marked, "marks", "01", status=2)
    assert said == f"Nothing of {UNIT} is graded here: run `course grade 01`."
    assert not (marked / "marks").exists()


def test_two_tables_that_differ_are_refused(marked, tmp_path):
    course(marked, "marks", "01")
    path = marked / "marks" / f"{UNIT}.csv"
    table = rows(path)
    for points, place in (("5", path), ("6", tmp_path / "other.csv")):
        fill(place, [{**row, "points": points} for row in table])
    other = tmp_path / "other.csv"
    said = course(marked, "marks", "01", "--take", path, "--take", other, status=2)
    assert "contradicts" in said


@pytest.mark.parametrize(
    "own", first_of([{"points": "4"}, {"comment": "Well."}, {"points": "many"}])
)
def test_a_graders_work_is_not_written_over(marked, own):
    """Writing the tables again loses no points that were not yet read."""
    course(marked, "marks", "01", "--among", "ann,bo", "--anonymous")
    path = marked / "marks" / f"{UNIT}-bo.csv"
    table = rows(path)
    fill(path, [{**row, **own} for row in table])
    before = {one: one.read_bytes() for one in (marked / "marks").iterdir()}
    words = ("marks", "01", "--among", "ann,bo", "--anonymous")
    said = course(marked, *words, status=2)
    assert f"Take them with `course marks 01 --take {path}`" in said
    assert {one: one.read_bytes() for one in (marked / "marks").iterdir()} == before
    fill(path, [{**row, "points": "4.125", "comment": " Well. "} for row in table])
    course(marked, "marks", "01", "--take", path)
    course(marked, *words)
    assert {row["points"] for row in rows(path)} == {"4.12"}


def test_a_newer_mark_of_formgrader_is_not_replaced(marked):
    course(marked, "marks", "01")
    path = marked / "marks" / f"{UNIT}.csv"
    table = rows(path)
    fill(path, [{**row, "points": "13"} for row in table])
    with Gradebook(f"sqlite:///{marked}/gradebook.db") as gradebook:
        gradebook.find_grade("why", UNIT, UNIT, "mistake-1").manual_score = 12
        gradebook.db.commit()
    before = cells(marked)
    said = course(marked, "marks", "01", "--take", path, status=2)
    assert "13 points, but the gradebook has 12, which were given after" in said
    assert said.count("points, but") == 1 and cells(marked) == before
    fill(path, [row | {"points": "" if "mistake" in row["student"] else "13"}
                for row in table])  # fmt: skip
    course(marked, "marks", "01", "--take", path)
    found = scores(marked)
    assert found["mistake-1"] == pytest.approx(EXPECTED["mistake-1"] + 12)
    assert found["half-done"] == pytest.approx(EXPECTED["half-done"] + 13)
    fill(path, [{**row, "points": "14"} for row in table])  # a table taken again
    course(marked, "marks", "01", "--take", path)
    assert scores(marked)["half-done"] == pytest.approx(EXPECTED["half-done"] + 14)


def test_a_grader_named_twice_is_asked_about(marked):
    said = course(marked, "marks", "01", "--among", "ann, bo,Ann", status=2)
    assert "--among ann,bo,Ann names a grader twice" in said
    assert not (marked / "marks").exists()


def first_and_others(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the row that has the marks of equal answers, and the rows that follow."""
    first, *others = rows(path)
    assert first["same as"] == ""
    assert {row["same as"] for row in others} == {first["student"]}
    return first, others


def test_equal_answers_get_one_mark_with_exceptions(marked):
    make_answers_equal(marked)
    said = course(marked, "marks", "01", "--anonymous")
    assert "2 answers with `same as` equal another answer" in said
    path = marked / "marks" / f"{UNIT}.csv"
    first, (same, other) = first_and_others(path)
    first |= {"points": "7", "comment": "@zero"}
    (marked / "comments.csv").write_text("name,text\nzero,Zero is neutral.\n")
    fill(path, [first, same, other | {"points": "9"}])
    course(marked, "marks", "01", "--take", path)
    given = {
        key[0]: value[1] for key, value in cells(marked).items() if key[1] == "why"
    }
    assert sorted(given.values()) == [7, 7, 9]
    assert {comment(marked, who) for who in THREE} == {"Zero is neutral."}
    course(marked, "marks", "01")  # the row with the exception now has its points
    first, others = first_and_others(path)
    assert [row["points"] for row in (first, *others)] == ["7", "", "9"]
    fill(path, [first | {"comment": "Zero changes nothing."}, *others])
    assert "2 of them new" in course(marked, "marks", "01", "--take", path)
    said = [comment(marked, who) for who in given if given[who] == 7]
    assert said == ["Zero changes nothing."] * 2


def test_a_comment_of_the_class_can_change_everywhere(marked):
    course(marked, "marks", "01")
    path = marked / "marks" / f"{UNIT}.csv"
    fill(path, [{**row, "points": "3", "comment": "@zero"} for row in rows(path)])
    for text in ("Zero is neutral.", "Zero changes nothing."):
        (marked / "comments.csv").write_text(f"zero,{text}\n")
        assert "3 of them new" in course(marked, "marks", "01", "--take", path)
        assert {comment(marked, who) for who in THREE} == {text}


def test_equal_answers_go_to_one_grader_and_other_tables_are_not_needed(marked):
    make_answers_equal(marked)
    course(marked, "marks", "01", "--among", "ann,bo")
    tables = [rows(marked / "marks" / f"{UNIT}-{who}.csv") for who in ("ann", "bo")]
    assert [len(table) for table in tables] == [3, 0]
    path = marked / "part.csv"
    fill(path, [row | {"points": "many"} for row in tables[0][1:]])
    said = course(marked, "marks", "01", "--take", path, status=2)
    first = tables[0][0]["student"]
    for place in (2, 3):
        assert f"row {place}: 'many': expected points, 0 to 30." in said
        assert f"row {place}: no row of {first!r}, whose answer is the same" in said
