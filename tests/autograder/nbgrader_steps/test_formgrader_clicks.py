"""Clicks lead from formgrader's page in the menu to every page of an instructor.

The class has sixty students from an archive of Moodle's, and three are graded.
"""

import csv
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import barriers
from chromium import Browser, browser
from guide_pictures.jupyter_server import jupyter_server
from nbgrader.api import Gradebook
from playwright.sync_api import expect
from tiny_grading import UNIT, grade, submission
from typer.testing import CliRunner

from autograder.commands.app import app

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
CLASS = 60
PATIENCE = 60_000  # milliseconds, on a busy machine
GRADED = ("student-number-0", "student-number-1", "student-number-2")


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory, make_classroom) -> Path:
    """Collect sixty students from an archive, and grade three of them."""
    place = tmp_path_factory.mktemp("clicks")
    root = make_classroom(place / "class")
    works = [submission(root, who).read_bytes() for who in ("perfect-one", "mistake-1")]
    shutil.rmtree(root / "submitted")
    with zipfile.ZipFile(place / "moodle.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(CLASS):
            name = f"Student Number {number}_{7000 + number}_assignsubmission_file_"
            archive.writestr(f"{name}/{UNIT}.ipynb", works[number % 2])
    words = ["collect", str(place / "moodle.zip"), "--course-root", str(root)]
    done = CliRunner().invoke(app, words)
    assert f"{CLASS} students collected" in done.output, done.output
    done = grade(root, *(word for who in GRADED for word in ("--student", who)))
    assert done.exit_code == 0, done.output
    return root


@pytest.fixture(scope="module")
def home(taught: Path, tmp_path_factory) -> Iterator[tuple[str, str]]:
    with jupyter_server(taught, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def page(chrome: Browser, home: tuple[str, str]):
    """Open formgrader as the entry in JupyterLab's menu does."""
    address, token = home
    chrome.page.goto(f"{address}/formgrader?token={token}")
    return chrome.page


def click(page, words: str) -> None:
    page.get_by_role("link", name=words, exact=True).first.click()


def path_of(url: str) -> str:
    return url.partition("?")[0]


def wait_for_another_page(page, *seen: str) -> None:
    """Wait for the address of a page that is not one of these."""
    address = re.compile("|".join(map(re.escape, seen)))
    expect(page).not_to_have_url(address, timeout=PATIENCE)


def test_manage_assignments_leads_to_every_submission(page):
    click(page, "Manage Assignments")
    click(page, str(CLASS))
    page.get_by_text(GRADED[0], exact=True).wait_for()
    row = page.locator("tr", has=page.get_by_text(GRADED[0], exact=True))
    assert "needs manual grading" in row.inner_text()
    row.locator(".student-name a").click()
    click(page, UNIT)
    page.locator("#why").wait_for()
    assert page.locator("table.hidden-checks").count() == 3


def test_manual_grading_leads_from_answer_to_answer(page):
    click(page, "Manual Grading")
    click(page, UNIT)
    click(page, UNIT)
    page.get_by_text("Submission #1").first.wait_for()
    page.locator("tbody tr a").first.click()
    page.locator("#why").wait_for()
    first = page.url
    page.locator(".next a").first.click()
    wait_for_another_page(page, path_of(first))
    page.locator("#why").wait_for()


FOCUSED = "id => document.activeElement?.id === id"


def type_with_focus_on(page, field: str, keys: str) -> None:
    """Type into the field that has the focus, and test which one has it."""
    page.wait_for_function(FOCUSED, arg=field)
    page.wait_for_load_state("load")  # the keys work from then on
    page.keyboard.type(keys)


def test_keys_give_points_and_a_comment_and_lead_to_the_next_answer(page, taught):
    click(page, "Manual Grading")
    click(page, UNIT)
    click(page, UNIT)
    page.get_by_text("Submission #1").first.click()
    given = iter(("11", "12", "13"))
    type_with_focus_on(page, "why", next(given))
    page.keyboard.press("Tab")
    type_with_focus_on(page, "why-comment", "Well")
    page.keyboard.press("Enter")  # a new line of the comment
    page.keyboard.type("said.")
    pages = [path_of(page.url)]
    for points in given:
        page.keyboard.press("Control+Enter" if points == "12" else "Enter")
        wait_for_another_page(page, *pages)
        pages.append(path_of(page.url))
        type_with_focus_on(page, "why", points)
    page.keyboard.press("Enter")  # after the last answer
    address = re.compile(rf"/gradebook/{UNIT}/{UNIT}$")
    expect(page).to_have_url(address, timeout=PATIENCE)
    with Gradebook(f"sqlite:///{taught}/gradebook.db") as gradebook:
        grades = [gradebook.find_grade("why", UNIT, UNIT, who) for who in GRADED]
        assert {one.manual_score for one in grades} == {11, 12, 13}
        assert {one.extra_credit for one in grades} <= {None, 0}
        said = [gradebook.find_comment("why", UNIT, UNIT, who) for who in GRADED]
        assert "Well\nsaid." in {one.manual_comment for one in said}


NAMES = """fields => fields.map(field => field.getAttribute("aria-label"))"""


def test_the_extra_credit_is_after_the_comment_and_fields_have_names(page):
    click(page, "Manual Grading")
    click(page, UNIT)
    click(page, UNIT)
    page.get_by_text("Submission #1").first.click()
    page.locator("#why").wait_for()
    fields = page.locator("#why, #why-comment, #why_extra_credit")
    names = ["Points for why", "Comment on why", "Extra credit for why"]
    assert fields.evaluate_all(NAMES) == names


def test_the_table_leads_to_formgrader_and_formgrader_to_equal_answers(page, taught):
    done = CliRunner().invoke(app, ["marks", "01", "--course-root", str(taught)])
    assert done.exit_code == 0, done.output
    with (taught / "marks" / f"{UNIT}.csv").open(encoding="utf-8-sig") as file:
        first, *others = csv.DictReader(file)
    assert {row["same as"] for row in others} == {first["student"]}
    page.goto(page.url.partition("formgrader")[0] + first["page"])
    page.get_by_text("Submissions with an equal answer: 2.").wait_for()
    click(page, "2")
    places = {row["page"] for row in others}
    page.wait_for_url(lambda url: any(place in url for place in places))


AT_ITS_MIDDLE = """link => {
    const box = link.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return [box.y, link.contains(document.elementFromPoint(x, y))];
}"""


def test_in_a_tab_of_jupyterlab_nothing_covers_previous_and_next(page):
    click(page, "Manual Grading")
    click(page, UNIT)
    click(page, UNIT)
    page.locator("tbody tr a").first.click()
    page.locator("#why").wait_for()
    before = page.viewport_size
    try:
        page.set_viewport_size({"width": 930, "height": 800})
        links = [page.locator(f".{name} a").first for name in ("previous", "next")]
        (first, is_free), (second, is_free_too) = (
            one.evaluate(AT_ITS_MIDDLE) for one in links
        )
    finally:
        page.set_viewport_size(before)
    assert is_free and is_free_too
    assert first == second  # one line


def test_manage_students_leads_to_every_student(page):
    click(page, "Manage Students")
    page.get_by_text(GRADED[1], exact=True).wait_for()
    row = page.locator("tr", has=page.get_by_text(GRADED[1], exact=True))
    row.locator(".name a").click()
    page.get_by_text(UNIT, exact=True).first.wait_for()
    click(page, UNIT)
    click(page, UNIT)
    page.locator("#why").wait_for()


def test_the_envelope_writes_a_page_that_opens(page, taught):
    click(page, "Manage Assignments")
    click(page, str(CLASS))
    row = page.locator("tr", has=page.get_by_text(GRADED[2], exact=True))
    row.locator(".generate-feedback a").click()
    words = page.locator(".modal-content")
    words.wait_for()
    page.get_by_text("Successfully generated").wait_for()
    path = taught / "feedback" / GRADED[2] / UNIT / f"{UNIT}.html"
    page.goto(path.as_uri())
    assert "Double" in page.locator("body").inner_text()


def test_axe_finds_nothing_in_what_is_ours_on_the_page_of_a_submission(page):
    click(page, "Manual Grading")
    click(page, UNIT)
    click(page, UNIT)
    page.locator("tbody tr a").first.click()
    page.locator("#why").wait_for()
    for ours in (".text_cell_render", ".output_subarea", ".input_area"):
        assert page.locator(ours).count() > 0
        assert barriers(page, within=ours) == []
