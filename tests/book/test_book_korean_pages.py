"""The built Korean pages, parsed: no errors, no downloads, no private content."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from test_book_pages import (
    answers,
    broken_links,
    loaded_from_elsewhere,
    squeezed,
    swallowed_headings,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def soups(korean_pages: list[Path]) -> dict[str, BeautifulSoup]:
    """Parse every Korean page."""
    return {
        page.name: BeautifulSoup(page.read_text("utf-8"), "html.parser")
        for page in korean_pages
    }


def test_no_link_of_a_korean_page_is_broken(soups, korean: Path) -> None:
    assert len(soups) > 20
    assert broken_links(soups, korean) == []


def test_korean_pages_load_nothing_from_elsewhere(soups, korean: Path) -> None:
    assert loaded_from_elsewhere(soups, korean) == []


def test_no_answer_is_in_the_korean_book(soups) -> None:
    pages = {name: squeezed(soup.get_text()) for name, soup in soups.items()}
    private = [(module, squeezed(body)) for module, body in answers()]
    found = [(n, m) for n, text in pages.items() for m, body in private if body in text]
    assert found == []


def test_korean_headings_and_figures_stand_as_in_english(soups, site: Path) -> None:
    assert swallowed_headings(soups) == []
    others = ("genindex.html", "glossary.html")  # in another order; a list less
    for name, soup in soups.items():
        if name in others:
            continue
        english = BeautifulSoup((site / name).read_text("utf-8"), "html.parser")
        for what in ("article h1", "article h2", "article h3", "figure", "table"):
            assert len(soup.select(what)) == len(english.select(what)), (name, what)
        for number in soup.select("figcaption .caption-number"):
            if name[:2].isdigit():
                assert number.get_text().startswith(f"그림 {int(name[:2])}."), name


def test_every_korean_page_says_in_its_head_what_it_is_about(soups) -> None:
    said = {
        name: soup.find("meta", {"name": "description"})["content"]
        for name, soup in soups.items()
    }
    assert len(set(said.values())) == len(soups)
    assert {n for n, text in said.items() if not 15 < len(text) <= 320} == set()
    assert {n for n, text in said.items() if not re.search("[가-힣]", text)} == set()
