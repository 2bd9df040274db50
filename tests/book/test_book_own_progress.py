"""A learner's progress in the book: from the check's own file, and kept offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from axe import barriers
from book_readers import CUT, FAULTS, NARROW, WIDE, Reader
from chromium import PATIENCE
from course_book import words
from course_book.own_progress import display

from autograder.course import load_course
from autograder.phrases import translated
from autograder.self_study.command import main
from autograder.self_study.progress import FILE, course_map
from autograder.translations.feedback_catalogues import feedback_table

COURSE = load_course()
BOOK = COURSE.root / "book"
SCALED = "return query @ key.transpose(-2, -1) / math.sqrt(d_k)"
PAGE = """<!doctype html>
<html lang="{language}" data-theme="{theme}"><meta charset="utf-8"><title>Book</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="{css}">
<script>DOCUMENTATION_OPTIONS = {{ pagename: "{name}" }};</script>
<script src="{script}"></script>
<nav class="bd-links" aria-label="Units">
<a href="04_attention.html">4. Attention</a> <a href="#">This page</a></nav>
<main class="bd-article"><article><h1>Book</h1>{display}</article></main></html>"""
BLOCKED = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("blocked", "SecurityError"); },
});"""
DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  return files;
}"""
ROW = ".own-progress tr:has(a[href='04_attention.html'])"
NEXT = "[data-next]"
CHOOSE = "[data-choose]"

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]


@pytest.fixture(scope="module")
def progress(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Check a notebook of unit 04 with one wrong exercise, as a learner does."""
    folder = tmp_path_factory.mktemp("learner")
    answers = COURSE.answer_notebook(COURSE.unit("04")).read_text("utf-8")
    wrong = answers.replace(SCALED, SCALED.partition(" /")[0])
    assert wrong != answers
    (folder / "04.ipynb").write_text(wrong, "utf-8")
    assert main(["04", str(folder / "04.ipynb")], "en", folder) == 1
    return folder / FILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a front page in each language, and a chapter, around the real display."""
    folder = tmp_path_factory.mktemp("book")
    written = {"04_attention": ("en", "")}
    for name, language in (("index", "en"), ("index-ko", "ko")):
        words.use(BOOK / "locale" / language)
        written[name] = (language, display(COURSE, COURSE.units, language))
    words.use(BOOK / "locale" / "en")
    for name, (language, shown) in written.items():
        page = PAGE.format(
            language=language,
            theme="light",
            name=name,
            css=(BOOK / "_static" / "course.css").as_uri(),
            script=(BOOK / "_static" / "course.js").as_uri(),
            display=shown,
        )
        (folder / f"{name}.html").write_text(page, "utf-8")
    return folder


@pytest.fixture
def reader(chromium: object) -> Iterator[Reader]:
    one = Reader(chromium, WIDE, "light")
    yield one
    assert one.faults == []  # no error, and no request except for the page's files
    one.context.close()


def map_of(progress: Path, language: str) -> tuple[list[str], str]:
    """Return the numbers of unit 04 and the next step, as the command prints them."""
    table = feedback_table(COURSE.root, "ko", "") if language == "ko" else {}
    told = partial(translated, table=table) if table else str
    lines = course_map(COURSE, progress.parent, language, told).splitlines()
    return re.findall(r"\d+", lines[3])[1:5], lines[-1]


def choose(page: object, files: object) -> None:
    """Choose a file with the keyboard only."""
    page.on("filechooser", lambda _: None)  # now, so that Enter cannot come first
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-choose]')"):
            break
    with page.expect_file_chooser() as asked:
        page.keyboard.press("Enter")
    asked.value.set_files(files)


def said_by(page: object) -> str:
    """Return the sentence that the page announces."""
    status = page.locator(".own-progress [role=status]:not(:empty)")
    status.wait_for()
    return status.inner_text()


def drop(page: object, name: str, text: str) -> None:
    """Drop a file onto the display."""
    files = page.evaluate_handle(DROP, [name, text])
    page.dispatch_event(".own-progress", "drop", {"dataTransfer": files})


@pytest.mark.parametrize(("name", "language"), [("index", "en"), ("index-ko", "ko")])
def test_the_page_shows_the_same_map_as_the_command(
    reader: Reader, folder: Path, progress: Path, name: str, language: str
) -> None:
    reader.open(folder / f"{name}.html")
    page = reader.page
    assert page.locator("[data-hint]").is_visible()
    assert not page.locator("details").is_visible()
    choose(page, progress)
    assert FILE in said_by(page)
    numbers, following = map_of(progress, language)
    assert page.locator(NEXT).inner_text() == following
    cells = page.locator(ROW).inner_text()
    assert sorted(re.findall(r"\d+", cells.split("\t", 1)[1])[:4]) == sorted(numbers)
    assert not page.locator("[data-hint]").is_visible()
    assert page.locator(".own-progress tr").count() == len(COURSE.units) + 1


def test_a_reload_keeps_the_progress_until_the_learner_forgets_it(
    reader: Reader, folder: Path, progress: Path
) -> None:
    page = reader.page
    reader.open(folder / "index.html")
    drop(page, FILE, progress.read_text("utf-8"))
    said_by(page)
    following = page.locator(NEXT).inner_text()
    reader.open(folder / "04_attention.html")
    done = map_of(progress, "en")[0]
    mark = page.locator(".progress-mark")
    assert mark.all_inner_texts() == [f" {done[0]}/{done[1]}"] * 2
    reader.open(folder / "index-ko.html")
    assert page.locator(ROW).count() == 1
    reader.open(folder / "index.html")
    assert page.locator(NEXT).inner_text() == following
    page.locator("[data-forget]").focus()
    page.keyboard.press("Enter")
    assert said_by(page) == "This browser has forgotten your progress."
    assert page.evaluate("document.activeElement.matches('[data-choose]')")
    for _ in range(2):
        assert page.locator("[data-hint]").is_visible()
        assert not page.locator(NEXT).is_visible()
        assert mark.count() == 0
        assert page.evaluate("localStorage.length") == 0
        reader.open(folder / "index.html")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty: run"),
        (" \n", "is empty: run"),
        ("{}", "is empty: run"),
        ('{"04_attention": {"attention-sc', "is not a progress file"),
        ("[]", "is not a progress file"),
        ("null", "is not a progress file"),
        ("%PDF-1.7\0", "is not a progress file"),
        (" " * 1_000_001, "is not a progress file"),
        ('{"99_other": {}}', "contains none of this course's units"),
        ('{"04_attention": 3}', "contains none of this course's units"),
    ],
)
def test_a_wrong_file_gets_one_sentence_and_replaces_nothing(
    reader: Reader, folder: Path, progress: Path, text: str, expected: str
) -> None:
    page = reader.page
    reader.open(folder / "index.html")
    drop(page, "mine.json", text)
    sentence = said_by(page)
    assert sentence.startswith(f"mine.json {expected}")
    assert sentence.endswith(".") and "\n" not in sentence
    assert page.locator("[data-hint]").is_visible()
    drop(page, FILE, progress.read_text("utf-8"))
    page.locator(NEXT).wait_for()
    shown = page.locator(NEXT).inner_text()
    drop(page, "mine.json", text)
    page.get_by_text(f"mine.json {expected}").wait_for()
    assert page.locator(NEXT).inner_text() == shown


def test_strange_facts_count_as_nothing(reader: Reader, folder: Path) -> None:
    reader.open(folder / "index.html")
    facts = '{"04_attention": {"attention-scores": {"passed": "no", "points": "<b>"}}}'
    drop(reader.page, FILE, facts)
    said_by(reader.page)
    assert reader.page.locator(ROW).inner_text().split("\t")[1:3] == [
        "0 of 5",
        "0 of 85",
    ]


def test_without_storage_the_page_shows_the_file_and_says_that_it_keeps_nothing(
    reader: Reader, folder: Path, progress: Path
) -> None:
    reader.page.add_init_script(BLOCKED)
    reader.open(folder / "index.html")
    choose(reader.page, progress)
    assert "keeps nothing" in said_by(reader.page)
    assert reader.page.locator(ROW).is_visible()


@pytest.mark.parametrize("kept", ["{", "3", '{"progress": 3, "marks": {"index": {}}}'])
def test_what_others_left_in_the_storage_breaks_nothing(
    reader: Reader, folder: Path, kept: str
) -> None:
    reader.open(folder / "index.html")
    reader.page.evaluate(
        "(text) => localStorage.setItem('course-progress', text)", kept
    )
    reader.open(folder / "index.html")
    assert reader.page.locator(CHOOSE).is_visible()
    assert not reader.page.locator("details").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_built_book_shows_it_whole_on_a_phone_and_a_laptop(
    chromium: object,
    request: pytest.FixtureRequest,
    progress: Path,
    language: str,
    theme: str,
) -> None:
    built = request.getfixturevalue("korean" if language == "ko" else "site")
    context = chromium.new_context(
        viewport={"width": NARROW, "height": 800}, has_touch=True, color_scheme=theme
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("filechooser", lambda _: None)  # now, so that the tap cannot come first
    page.goto((built / "index.html").as_uri())
    with page.expect_file_chooser() as asked:
        page.locator(CHOOSE).tap()
    asked.value.set_files(progress)
    said_by(page)
    assert page.locator(NEXT).inner_text() == map_of(progress, language)[1]
    for width in (NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(FAULTS) + page.evaluate(CUT) == []
        assert barriers(page, within=".own-progress") == []
    page.locator(f"{ROW} a").click()
    page.wait_for_url("**/04_attention.html")
    assert page.locator(".bd-links .progress-mark").count() == 1
    context.close()
