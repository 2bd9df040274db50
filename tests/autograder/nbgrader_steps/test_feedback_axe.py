"""A feedback page is accessible: axe-core finds nothing in our parts."""

import pytest
from axe import barriers
from chromium import browser
from nbformat.v4 import new_code_cell, new_output
from test_feedback_pages import check, check_cell, graded, page_of, written_cell

from autograder.grading.check_results import CheckResult
from autograder.grading.feedback_table import as_html

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]
CODE = '''def attend(query, key, mask=None):
    """Say who looks at whom."""
    # A comment, a number and a long line that a telephone has no room for: 1234567890
    if mask is not None and not query in key or True:
        raise ValueError(f"found {query!r}") from None
    return [value @ key for value in query if 1.5 < 2]
'''


def answered():
    """Make an answer with its printed output and the error that ended it."""
    cell = new_code_cell(CODE)
    cell.outputs = [
        new_output("stream", name="stdout", text="0.5 " * 60),
        new_output("error", ename="E", evalue="no", traceback=["\x1b[31mE: no\x1b[0m"]),
    ]
    own = {"grade_id": "decoder-layer", "score": 0.0, "points": 0.0}
    return graded(cell, **own, solution=True, grade=False)


def checked():
    """Make the cell with the table of checks, with one check of each status."""
    cell = check_cell()
    results = [
        CheckResult("decoder-layer", "a", "The shape", 1, 0, 5, status, "It is `nan`.")
        for status in ("passed", "failed", "not run")
    ]
    cell.outputs = [new_output("display_data", data={"text/html": as_html(results)})]
    return cell


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_axe_finds_nothing_on_a_feedback_page(tmp_path, width):
    checks = [
        check("decoder-layer", "failed", message="It is `nan`.", hint="Look again."),
        check("decoder-layer", "passed", title="The shape"),
    ]
    text = "## My words\n\nA [link](https://example.org) in a sentence, and `code`."
    page = page_of(answered(), checked(), written_cell(True, text), checks=checks)
    path = tmp_path / "feedback.html"
    path.write_text(str(page), "utf-8")
    with browser(tmp_path / "profile") as reader:
        reader.page.set_viewport_size({"width": width, "height": 900})
        reader.page.goto(path.as_uri())
        assert reader.page.locator("#failed-checks li li").count() == 1
        assert barriers(reader.page) == []
