"""A feedback page names exercises, shows no bare score, and lists the next steps."""

import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from tiny_grading import UNIT, grade, only
from traitlets.config import Config

from autograder.grading.outcome import RECORD
from autograder.nbgrader_steps.feedback import FeedbackExporter, exercise_name
from autograder.nbgrader_steps.settings import configure

PAGE = {"notebook": UNIT, "score": 17.5, "max_score": 65.0, "late_penalty": 0}


def graded(cell: NotebookNode, **own) -> NotebookNode:
    cell.metadata["nbgrader"] = {"grade": True, "solution": False} | own
    return cell


def result(text: str) -> NotebookNode:
    return new_output("execute_result", data={"text/plain": text})


def check_cell() -> NotebookNode:
    cell = new_code_cell("assert True")
    report = new_output("display_data", data={"text/html": "<b>The report</b>"})
    cell.outputs = [report, result("17.5")]
    own = {"grade_id": "decoder-layer-check", "score": 17.5, "points": 45.0}
    return graded(cell, **own, ungraded=False)


def written_cell(ungraded: bool, text: str = "My words.") -> NotebookNode:
    own = {"grade_id": "which-mask-where", "score": 0.0, "points": 20.0}
    cell = new_markdown_cell(text)
    return graded(cell, **own, solution=True, ungraded=ungraded)


def page_of(*cells: NotebookNode, checks: list | None = None) -> BeautifulSoup:
    config = Config()
    configure(config)
    resources = {"nbgrader": PAGE, "inlining": {"css": []}}
    metadata = {RECORD: {"checks": checks or []}}
    html, _ = FeedbackExporter(config=config).from_notebook_node(
        new_notebook(cells=list(cells), metadata=metadata), resources
    )
    return BeautifulSoup(html, "html.parser")


def words(page: BeautifulSoup, place: str) -> list[str]:
    return [" ".join(found.get_text().split()) for found in page.select(place)]


def check(exercise: str, status: str, **more) -> dict:
    own = {"exercise": exercise, "status": status, "title": "Every <value>"}
    own |= {"points": 0, "max_points": 7.5, "message": "", "hint": "", "mistake": None}
    return own | more


def test_failed_checks_stand_on_top():
    failed = check("decoder-layer", "failed", message="It is <b>nan</b>.")
    checks = [check("decoder-layer", "passed", title="The shape"), failed]
    page = page_of(check_cell(), checks=checks)
    (line,) = page.select("#failed-checks > ul > li")
    said = "Decoder layer Every <value> (0 / 7.5): It is <b>nan</b>."
    assert " ".join(line.get_text().split()) == said
    assert page.select_one(f"a[name='{line.a['href'][1:]}']")
    text = page.get_text()
    assert text.index("What to fix") < text.index("The report")
    assert not page_of(check_cell(), checks=checks[:1]).select("#failed-checks")


@pytest.mark.parametrize(
    ("failed", "shown"),
    [
        ([{}], ["0"]),
        ([{}, {"max_points": 9}, {}], ["1"]),
        ([{}, {"mistake": "zeros"}, {"mistake": "zeros"}, {}], ["1"]),
        ([{"mistake": "zeros"}, {}, {"mistake": "no mask"}], ["0", "2"]),
        ([{"max_points": 9}, {"hint": "Fix that first."}], ["0", "1"]),
    ],
)
def test_what_follows_from_a_cause_is_folded(failed, shown):
    """The page shows each mistake once, and a reader can open the rest."""
    checks = [
        check("decoder-layer", "failed", **more | {"title": str(number)})
        for number, more in enumerate(failed)
    ]
    page = page_of(check_cell(), checks=checks)
    first = words(page, "#failed-checks > ul > li > ul > li:not(:has(details))")
    assert [line.split()[0] for line in first] == shown
    folded = words(page, "#failed-checks details li")
    assert len(first) + len(folded) == len(failed)
    assert words(page, "#failed-checks summary") == (
        [f"Other failed checks ({len(folded)}): fix the first, then look again"]
        if folded
        else []
    )


@pytest.mark.parametrize("fails", [True, False])
def test_the_set_up_cell_is_shown_where_it_failed(fails):
    """The student has this cell, and otherwise each page would begin with it."""
    printed = new_output("stream", name="stdout", text="is set up")
    error = new_output("error", ename="OSError", evalue="no", traceback=["OSError: no"])
    cell = new_code_cell("import torch", outputs=[error if fails else printed])
    cell.metadata["nbgrader"] = {"grade_id": "setup", "locked": True}
    assert ("import" in page_of(cell).get_text()) is fails


def test_a_page_asks_for_nothing_and_runs_no_script():
    page = page_of(written_cell(ungraded=False, text="$\\frac{a}{b} < c$"))
    assert not page.select("script, link, iframe, [src^=http]")
    assert len(page.select_one("math mfrac").find_all("mi")) == 2
    assert "contain: paint" in str(page)


def test_the_line_for_a_name_is_left_out():
    page = page_of(new_markdown_cell("# A unit\n\nYour name:"))
    assert words(page, ".text_cell_render") == ["A unit"]


def test_the_contents_name_the_exercises():
    page = page_of(check_cell(), written_cell(ungraded=True))
    assert words(page, "#toc li") == [
        "Decoder layer (Score: 17.5 / 45.0)",
        "Which mask where (not graded yet: 20 points to come)",
    ]
    assert words(page, "h1") == [f"{UNIT} (Score: 17.5 / 65.0; 20 points to come)"]


@pytest.mark.parametrize("ungraded", [True, False])
def test_a_written_answer_has_a_score_once_it_is_graded(ungraded):
    own = "Score: 0.0 / 20.0, I fear. <li>Test cell</li>"
    page = page_of(written_cell(ungraded, own))
    said = "not graded yet: 20 points to come" if ungraded else "Score: 0.0 / 20.0"
    assert words(page, "span.pull-right") == [f"{said} (Top)"]
    assert "Score: 0.0 / 20.0, I fear." in words(page, ".text_cell_render")[0]
    assert ("to come" in words(page, "h1")[0]) is ungraded


def test_the_score_below_a_report_is_not_shown_and_other_results_are():
    own = new_code_cell("1 + 1", outputs=[result("2222")])
    page = page_of(check_cell(), own)
    assert words(page, ".output_area") == ["The report", "2222"]


@pytest.mark.parametrize(
    ("grade_id", "name"), [("ffn-check", "Ffn"), ("check-in", "Check in")]
)
def test_the_name_of_an_exercise(grade_id, name):
    assert exercise_name(grade_id) == name


def test_a_class_reads_what_is_still_to_come(classroom):
    only(classroom, "perfect-one")
    page = classroom / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    assert grade(classroom).exit_code == 0
    contents = words(BeautifulSoup(page.read_text(), "html.parser"), "#toc li")
    assert "Why (not graded yet: 30 points to come)" in contents
    assert not any("Test cell" in line for line in contents)
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        gradebook.find_grade("why", UNIT, UNIT, "perfect-one").manual_score = 0
        gradebook.db.commit()
    assert grade(classroom).exit_code == 0
    contents = words(BeautifulSoup(page.read_text(), "html.parser"), "#toc li")
    assert "Why (Score: 0.0 / 30.0)" in contents
