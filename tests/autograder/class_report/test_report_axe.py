"""The class report is accessible: axe-core finds nothing, with all tables."""

import pytest
from axe import barriers
from chromium import browser
from test_report_figures import check, report_of, row

from autograder.class_report import write_page
from autograder.class_report.report import Row
from autograder.collect.import_report import (
    PASSED_OVER,
    REFUSED,
    TAKEN,
    ImportReport,
    ImportResult,
    page_of,
)

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]


def class_of_twelve():
    """Make a class with a wrong, repaired, refused, missing and hand-graded row."""
    wrong = check("first", "the softmax", "failed", "no √d_k")
    rows = [
        row(f"student-{n:02}", 2.0 * (n % 5), 4.0 * (n % 4), wrong, seconds=1.0 + n)
        for n in range(9)
    ]
    return report_of(
        *rows,
        row("by-hand", 5.0, None, check("first", "the softmax"), seconds=2.0),
        Row("refused", "refused", "it is empty"),
        Row("missing", "missing", "nothing was handed in"),
        by_hand=["second"],
    )


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_axe_finds_nothing_in_a_report(tmp_path, width):
    path = tmp_path / "report.html"
    write_page(class_of_twelve(), path)
    with browser(tmp_path / "profile") as reader:
        page = reader.page
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.goto(path.as_uri())
            assert page.locator("table").count() == 5
            assert barriers(page) == []


HIGHEST = 6000  # pixels: eight screens for any class


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_four_hundred_are_no_longer_a_page_than_twelve(tmp_path, width):
    few, many = tmp_path / "few.html", tmp_path / "many.html"
    write_page(class_of_twelve(), few)
    wrong = check("first", "the softmax", "failed", "no √d_k")
    note = {"repair": ("found by its place",), "seconds": 2.0}
    rows = [row(f"student-{n:03}", n % 11, n % 21, wrong, **note) for n in range(400)]
    write_page(report_of(*rows), many)
    with browser(tmp_path / "profile") as reader:
        page, heights = reader.page, []
        page.set_viewport_size({"width": width, "height": 900})
        for path in (few, many):
            page.goto(path.as_uri())
            heights.append(page.evaluate("document.documentElement.scrollHeight"))
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert max(heights) < HIGHEST
    assert heights[1] < heights[0] + 1500  # two tables that scroll


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_axe_finds_nothing_in_an_account_of_files(tmp_path, width):
    """Write the page of `course collect`, with each of its tables."""
    results = [
        ImportResult(
            "ada_1_10_04_attention.ipynb", TAKEN, ("ada",), "", "04_attention", "noon"
        ),
        ImportResult("bo_2_11_work.pdf", REFUSED, ("bo",), "is a PDF, not a notebook"),
        ImportResult(
            "ada_1_12_notes.pdf", REFUSED, ("ada",), "is a PDF", is_beside=True
        ),
        ImportResult(
            "__MACOSX/._x", PASSED_OVER, (), "is what an operating system adds"
        ),
    ]
    report = ImportReport(
        results=results, missing={"04_attention": ["cy"], "05_other": []}
    )
    path = tmp_path / "report.html"
    path.write_text(page_of(report), "utf-8")
    with browser(tmp_path / "profile") as reader:
        reader.page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            reader.page.emulate_media(color_scheme=theme)
            reader.page.goto(path.as_uri())
            assert reader.page.locator("table").count() == 4
            assert barriers(reader.page) == []
