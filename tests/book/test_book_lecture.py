"""The pages to lecture from: slides for each unit, and a summary on two pages."""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from axe import barriers
from book_readers import FAULTS, NARROW, WIDE, Reader, window
from bs4 import BeautifulSoup, Tag
from chromium import without_a_loop
from course_book.lecture import summarise
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import new_document

from autograder.course import load_course

ROOT = Path(__file__).resolve().parents[2]
COURSE = load_course(ROOT)
PAGES = ("slides", "summary")
OF_THE_WHOLE_BOOK = pytest.mark.slow
NEEDS_CHROMIUM = pytest.mark.needs("chromium")
PAGE_OF_PDF = re.compile(rb"/Type /Page\b")
# The slides that are higher than the window, or wider than it inside.
TOO_LARGE = """() => [...document.querySelectorAll(".slide, .slide *")].filter((one) =>
  one.scrollWidth > one.clientWidth + 1 && one.clientWidth && !one.closest("svg")
  || one.offsetHeight > innerHeight + 1).map((one) => one.outerHTML.slice(0, 80))"""


@pytest.fixture(params=("site", "korean"))
def folder(request: pytest.FixtureRequest) -> Path:
    """The folder of the book's pages, in English or Korean."""
    return request.getfixturevalue(request.param)


def soup_of(folder: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((folder / f"{name}.html").read_text("utf-8"), "html.parser")


def parts(box: Tag) -> tuple[int, int, int]:
    """Count drawings that have a text alternative, formulas and sentences."""
    drawings = [svg for svg in box("svg") if svg["aria-label"]]
    return len(drawings), len(box.select("div.math")), len(box.select(".sentences li"))


@OF_THE_WHOLE_BOOK
def test_each_unit_has_its_drawings_formula_and_three_sentences(site: Path) -> None:
    slides, summary = (soup_of(site, name) for name in PAGES)
    articles = summary("article")
    assert len(articles) == len(COURSE.units)
    for unit, article in zip(COURSE.units, articles, strict=True):
        source = (ROOT / "book" / f"{unit.slug}.md").read_text("utf-8")
        own = slides.select(f'[id^="unit-{unit.number:02}"]')
        box = BeautifulSoup("".join(map(str, own)), "html.parser")
        assert parts(box) == (source.count("```{drawing}"), 1, 3), unit.slug
        assert parts(article) == (1, 1, 3), unit.slug
        for one in (article, *own):
            assert f"{unit.number:02} {unit.title}" in one.h2.get_text()
    fourth = slides.select_one("#unit-04-summary").get_text()
    assert r"\operatorname{Attention}(Q, K, V)" in fourth
    assert "averages the values with these weights." in fourth
    assert r"\mathrm{BLEU}" in articles[10].get_text()


@OF_THE_WHOLE_BOOK
def test_the_pages_load_only_files_of_the_book(folder: Path) -> None:
    for name in PAGES:
        soup = soup_of(folder, name)
        loaded = [one["src"] for one in soup(src=True)]
        addresses = loaded + [one["href"] for one in soup(href=True)]
        files = {address for address in addresses if not address.startswith("#")}
        assert len(loaded) == 2
        assert [one for one in files if not (folder / one).is_file()] == []


@OF_THE_WHOLE_BOOK
@NEEDS_CHROMIUM
@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_and_axe_finds_nothing(
    folder: Path, chromium: object, width: int, theme: str
) -> None:
    reader = Reader(chromium, width, theme)
    for name in PAGES:
        reader.open(folder / f"{name}.html")
        assert reader.page.evaluate("document.documentElement.dataset.theme") == theme
        assert reader.page.evaluate(FAULTS) == []
        assert reader.page.evaluate(TOO_LARGE) == []
        assert reader.faults == []
        assert barriers(reader.page) == []
        reader.faults.clear()  # axe-core reads style sheets, which a file may not
    reader.context.close()


@OF_THE_WHOLE_BOOK
@NEEDS_CHROMIUM
def test_keys_lead_through_the_slides(site: Path, chromium: object) -> None:
    with window(chromium, WIDE, "light") as page:
        page.goto((site / "slides.html").as_uri())

        def shown_after(*keys: str) -> str:
            for key in keys:
                page.keyboard.press(key)
            return page.evaluate(
                "document.elementFromPoint(innerWidth / 2, 20).closest('.slide').id"
            )

        assert shown_after("ArrowRight") == "unit-01"
        assert shown_after("ArrowDown", "PageDown", "ArrowRight") == "unit-01-summary"
        assert shown_after("ArrowLeft") == "unit-01-3"
        assert shown_after("ArrowUp", "PageUp") == "unit-01"
        assert shown_after("End", "ArrowRight") == "unit-13-summary"
        assert shown_after("Home", "ArrowLeft") == "start"
        page.goto((site / "slides.html").as_uri() + "#unit-04")
        page.focus("#unit-04 input")
        assert shown_after("ArrowLeft", "Home") == "unit-04"
        assert page.input_value("#unit-04 input") == "1"


@OF_THE_WHOLE_BOOK
@NEEDS_CHROMIUM
def test_the_summary_fills_two_pages_and_each_slide_one(
    folder: Path, chromium: object
) -> None:
    expected = {"summary": 2, "slides": len(soup_of(folder, "slides")(class_="slide"))}
    reader = Reader(chromium, WIDE, "dark")
    for name, count in expected.items():
        reader.open(folder / f"{name}.html")
        printed = reader.page.pdf(prefer_css_page_size=True)
        assert len(PAGE_OF_PDF.findall(printed)) == count
    reader.context.close()


@OF_THE_WHOLE_BOOK
@NEEDS_CHROMIUM
def test_the_build_prints_the_summary_without_a_path(folder: Path) -> None:
    printed = (folder / "summary.pdf").read_bytes()
    assert len(PAGE_OF_PDF.findall(printed)) == 2
    assert b"file:" not in printed


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a summary that nobody has printed, and a PDF of an older one."""
    (tmp_path / "html" / "_static").mkdir(parents=True)
    (tmp_path / "html" / "_static" / "drawings.css").write_text("")
    script = "<script>MathJax = {startup: {promise: 0}}</script>"
    (tmp_path / "html" / "summary.html").write_text(f"<a href='x'>Hello</a>{script}")
    (tmp_path / "html" / "summary.pdf").write_text("old")
    return tmp_path / "html"


@NEEDS_CHROMIUM
@pytest.mark.integration
def test_only_a_changed_summary_is_printed_again(
    small: Path, builder: ModuleType
) -> None:
    pdf = small / "summary.pdf"
    with without_a_loop():
        builder.print_summary(small)
        assert len(PAGE_OF_PDF.findall(pdf.read_bytes())) == 1
        pdf.write_text("kept")
        builder.print_summary(small)
        assert pdf.read_text() == "kept"
        (small / "_static" / "drawings.css").write_text("svg {}")
        builder.print_summary(small)
        assert pdf.read_bytes().startswith(b"%PDF")


def test_without_chromium_the_build_says_how_to_print(
    small: Path, builder: ModuleType, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(builder, "find_chromium", lambda: None)
    builder.print_summary(small)
    assert not (small / "summary.pdf").exists()
    said = capsys.readouterr().out
    assert "needs Chromium" in said and str(small / "summary.html") in said


def chapter(*ids: str) -> Callable[[str], nodes.document]:
    document = new_document("chapter")
    document += nodes.section("", ids=[*ids])
    return lambda name: document


def test_a_summary_needs_a_formula_and_a_new_chapter_needs_none() -> None:
    unit = COURSE.unit("04")
    app = SimpleNamespace(env=SimpleNamespace(get_doctree=chapter("other")))
    assert summarise(app, unit) is None
    app.env.get_doctree = chapter("in-one-minute")
    with pytest.raises(ExtensionError, match=r"expected a formula .* 04_attention\.md"):
        summarise(app, unit)
