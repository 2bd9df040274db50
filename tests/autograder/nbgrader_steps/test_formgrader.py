"""An instructor grades in a real browser, and no student's script runs in formgrader.

One Jupyter server and one browser serve the whole module. One hostile student has right
answers and a script as a name. The folder name of another is a script.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from chromium import Browser, browser
from guide_pictures.jupyter_server import jupyter_server
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from nbgrader.api import Gradebook
from tiny_grading import UNIT, only, scores, submission

from autograder.classroom.folder import ClassFolder

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
STUDENT = "perfect-one"
NAMED = '<img src=x onerror="steal()">'
ATTACK = (
    "<script>steal()</script><img src=x onerror=steal()><svg onload=steal()></svg>"
    "<iframe srcdoc='<script>parent.steal()</script>'></iframe>"
    "<details open ontoggle=steal()>x</details>"
)
DOT = "iVBORw0KGgo="
# HTML that formgrader would take for its own fields, and HTML that covers its buttons.
GRAB = (
    '<div class="nbgrader_cell"><span id="double-check"></span><span id="why"></span>'
    '<span id="why-comment" name="why"></span><input class="score" id="scaler-check">'
    '<div class="full-credit modal-backdrop" style="position:fixed;inset:0">'
    "Press here</div></div>"
)
SHOWING = f"""
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display
attack = {ATTACK!r}
picture = "<svg onload='steal()'><script>steal()</script></svg>"
print(attack)
display(HTML({GRAB!r}), Markdown({GRAB!r} + "\\n\\n# why"), Latex({GRAB!r}))
display(HTML(attack), Markdown(attack), Latex("$" + attack + "$"))
display(Javascript("steal()"), SVG(picture))
display({{"text/html": attack, "application/javascript": "steal()"}}, raw=True)
display({{"image/svg+xml": picture}}, raw=True)
class Shown:
    def _repr_html_(self):
        return attack
    __repr__ = _repr_html_
display(Shown())
"""
FORMULAS = (
    r"$a<b$ and $\href{javascript:steal()}{\text{press}}$ "
    r'$\mmlToken{mi}[href="javascript:steal()"]{y}$ $\style{color:red}{z}$'
)
# A later reply would overwrite the typed text, or move the cursor.
SHOWN = "formgrader.grades?.loaded && formgrader.comments?.loaded && MathJax.loaded"
RAISING = f"raise ValueError({ATTACK!r})"


def make_hostile(path: Path) -> None:
    """Write scripts into every place where formgrader shows a student's text."""
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "why":
            cell.source = f"My own words. {ATTACK} {FORMULAS} ![dot](attachment:x.png)"
            cell.attachments = {"x.png": {"image/png": DOT}}
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += f"\n# {ATTACK}" if cell.cell_type == "code" else ""
    grab = [
        new_markdown_cell(GRAB),
        new_markdown_cell("## why"),
        new_code_cell(SHOWING),
    ]
    notebook.cells = [
        *grab,
        *notebook.cells,
        new_markdown_cell(ATTACK),
        new_raw_cell(ATTACK),
        new_code_cell(RAISING),
    ]
    notebook.metadata.title = ATTACK
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory, make_classroom) -> Path:
    """Make a class with a hostile student who is right, and with a bad name."""
    root = make_classroom(tmp_path_factory.mktemp("formgrader") / "class")
    only(root, STUDENT)
    named = root / "submitted" / NAMED / UNIT / f"{UNIT}.ipynb"
    named.parent.mkdir(parents=True)
    named.write_bytes(submission(root, STUDENT).read_bytes())
    make_hostile(submission(root, STUDENT))
    ClassFolder(root).register(UNIT)
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        name = {"first_name": ATTACK, "last_name": ATTACK}
        gradebook.update_or_create_student(STUDENT, **name)
    return root


@pytest.fixture(scope="module")
def server(taught: Path, tmp_path_factory) -> Iterator[tuple[str, str]]:
    with jupyter_server(taught, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def instructor(chrome: Browser, server: tuple[str, str]) -> Iterator[Browser]:
    """Log the instructor in. No page that they open may run a student's script."""
    address, token = server
    chrome.stolen.clear()
    chrome.page.goto(f"{address}/formgrader?token={token}")
    yield chrome
    chrome.page.wait_for_timeout(300)
    assert chrome.stolen == []


def press(page, student: str, button: str) -> str:
    """Press a button in a student's row of formgrader, and return its new text."""
    row = page.locator("tr", has=page.get_by_text(student, exact=True))
    row.locator(f".{button} a").click()
    modal = page.locator(".modal-content")
    modal.wait_for()
    words = modal.inner_text()
    page.locator(".modal-footer button").click()
    modal.wait_for(state="detached")
    return words


def open_submissions(page) -> None:
    page.goto(page.url.partition("/formgrader")[0] + "/formgrader/manage_assignments")
    page.get_by_role("link", name="2", exact=True).click()
    page.get_by_text("perfect-one", exact=True).wait_for()


def open_graded(page) -> None:
    """Follow an instructor's links to a student's graded notebook."""
    open_submissions(page)
    row = page.locator("tr", has=page.get_by_text(STUDENT, exact=True))
    row.locator(".student-name a").click()
    page.get_by_role("link", name=UNIT, exact=True).click()
    page.locator("#why").wait_for()
    page.wait_for_function(SHOWN)


def test_the_detector_sees_scripts_that_run(chrome, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(ATTACK)
    chrome.stolen.clear()
    chrome.page.goto(page.as_uri())
    until = time.monotonic() + 60
    while len(chrome.stolen) < 4 and time.monotonic() < until:
        chrome.page.wait_for_timeout(50)
    assert len(chrome.stolen) >= 4


def test_autograding_by_the_button_shows_the_scores(instructor, taught):
    page = instructor.page
    open_submissions(page)
    row = page.locator("tr", has=page.get_by_text(STUDENT, exact=True))
    assert "needs autograding" in row.inner_text()
    assert "Successfully autograded" in press(page, STUDENT, "autograde")
    row.get_by_text("needs manual grading").wait_for()
    assert row.locator(".score").inner_text() == "70 / 100"
    assert scores(taught) == {STUDENT: 70.0}


def test_a_name_that_is_a_script_is_refused(instructor, taught):
    page = instructor.page
    open_submissions(page)
    words = press(page, NAMED, "autograde")
    assert "There was an error" in words
    assert "is not a valid student name" in words
    page.goto(page.url.partition("/formgrader")[0] + "/formgrader/manage_students")
    page.get_by_text(STUDENT, exact=True).wait_for()
    assert scores(taught) == {STUDENT: 70.0}


def test_no_click_on_what_a_student_wrote_gives_points(instructor, taught):
    page = instructor.page
    open_graded(page)
    own = page.locator(".text_cell_render, .output_subarea").locator(
        "[id], [name], [style], [class*=credit], [class*=score], [class*=nbgrader]"
    )
    checks = "table[contains(@class, 'hidden-checks')]"
    pressed = page.get_by_text("Press here")
    assert pressed.count() >= 3
    for number in range(pressed.count()):
        pressed.nth(number).click()
    for place in ((5, 300), (640, 400), (1200, 700)):  # nothing covers the page
        page.mouse.click(*place)
    page.wait_for_load_state("networkidle")
    assert scores(taught) == {STUDENT: 70.0}
    assert own.count() > 0
    assert own.locator(f"xpath=self::*[not(ancestor-or-self::{checks})]").count() == 0


def test_the_written_answer_is_graded_by_hand(instructor, taught):
    page = instructor.page
    open_graded(page)
    words = page.locator("body").inner_text()
    assert "My own words." in words
    assert page.locator("img[alt=dot]").get_attribute("src").endswith(DOT)
    assert "<script>steal()</script>" in words  # the page shows printed text as text
    page.locator("#why").fill("25")
    with page.expect_response(lambda r: "/api/grade/" in r.url and r.ok):
        page.locator("#why").blur()
    page.locator("#why-comment").fill(f"Well said. {ATTACK}")
    with page.expect_response(lambda r: "/api/comment/" in r.url and r.ok):
        page.locator("#why-comment").blur()
    assert scores(taught) == {STUDENT: 95.0}
    open_submissions(page)
    row = page.locator("tr", has=page.get_by_text(STUDENT, exact=True))
    assert row.locator(".score").inner_text() == "95 / 100"
    assert row.locator(".status").inner_text() == "graded"


def test_formulas_are_set_without_a_script_and_link_nowhere(instructor):
    page = instructor.page
    instructor.outside.clear()
    open_graded(page)
    page.wait_for_function("formgrader.loaded && MathJax.loaded")
    assert page.locator("[href^='javascript']").count() == 0
    assert page.locator("math").count() >= 2
    assert page.locator("math a, math [href], math [style]").count() == 0
    assert instructor.outside == set()


def test_feedback_by_the_button_opens_and_is_harmless(instructor, taught):
    page = instructor.page
    open_submissions(page)
    assert "Successfully generated" in press(page, STUDENT, "generate-feedback")
    path = taught / "feedback" / STUDENT / UNIT / f"{UNIT}.html"
    page.goto(path.as_uri())
    words = page.locator("body").inner_text()
    checked = "Every value is doubled"
    for wanted in ("Score: 95.0 / 100.0", "Well said.", "My own words.", checked):
        assert wanted in words


def test_autograding_again_keeps_what_the_instructor_gave(instructor, taught):
    page = instructor.page
    open_submissions(page)
    assert "Successfully autograded" in press(page, STUDENT, "autograde")
    open_graded(page)
    assert page.locator("#why").input_value() == "25"
    assert "Well said." in page.locator("#why-comment").input_value()
    assert scores(taught) == {STUDENT: 95.0}


def test_every_list_of_formgrader_is_harmless(instructor, taught):
    page = instructor.page
    home = page.url.partition("/formgrader")[0] + "/formgrader"
    for place, shown in (
        ("gradebook", UNIT),
        (f"gradebook/{UNIT}", UNIT),
        (f"gradebook/{UNIT}/{UNIT}", "Submission #1"),
        ("manage_students", STUDENT),
        (f"manage_students/{STUDENT}", UNIT),
        (f"manage_submissions/{UNIT}", STUDENT),
    ):
        page.goto(f"{home}/{place}")
        page.get_by_text(shown).first.wait_for()
