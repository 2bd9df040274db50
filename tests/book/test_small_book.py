"""A book with one page of each kind builds without a warning and is accessible."""

import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from axe import barriers
from book_readers import FAULTS, NARROW, WIDE, unfold, window

from autograder.course import load_course

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
COURSE = load_course(ROOT)
TOC = """
format: jb-book
root: intro
parts:
  - caption: Units
    numbered: 2
    chapters: [{files}]
  - caption: Reference
    chapters: [{{file: shapes}}, {{file: glossary}}, {{file: references}}]
"""
PAGES = ("04_attention", "shapes", "glossary", "references", "intro")

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def small_book(builder: ModuleType, tmp_path_factory) -> Path:
    """Build the skeleton of a chapter, the reference pages and empty chapters."""
    root = tmp_path_factory.mktemp("small")
    book = root / "book"
    shutil.copytree(BOOK, book, ignore=shutil.ignore_patterns("_build", "*.md"))
    for name in ("skeleton", "shapes", "glossary", "references"):
        shutil.copy(BOOK / f"{name}.md", book)
    (root / "autograder").mkdir()
    shutil.copy(ROOT / "autograder" / "course.toml", root / "autograder")
    shutil.move(book / "skeleton.md", book / "04_attention.md")
    (book / "intro.md").write_text("# Preface\n", "utf-8")
    others = [unit.slug for unit in COURSE.units if unit.number != 4]
    for slug in others:  # the map links to them
        (book / f"{slug}.md").write_text("# Not written yet\n", "utf-8")
    files = ", ".join(f"{{file: {slug}}}" for slug in ["04_attention", *others])
    (book / "_toc.yml").write_text(TOC.format(files=files), "utf-8")
    assert builder.build(book=book, quiet=True) == 0
    return book / "_build" / "html"


def test_the_skeleton_of_a_chapter_has_its_figures(small_book: Path) -> None:
    page = (small_book / "04_attention.html").read_text("utf-8")
    assert re.search(r'class="slider-figure"', page)
    assert "Figure 4.1" in page


@pytest.mark.needs("chromium")
def test_axe_finds_nothing_and_all_is_drawn(small_book: Path, chromium) -> None:
    found = {}
    for theme, width in (("light", WIDE), ("dark", NARROW)):
        with window(chromium, width, theme) as page:
            for name in PAGES:
                unfold(page, (small_book / f"{name}.html").as_uri())
                if faults := barriers(page) + page.evaluate(FAULTS):
                    found[name, theme] = faults
    assert found == {}
