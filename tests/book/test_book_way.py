"""The plan of the course from the chapters: required units, and minutes."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from course_book.way import Asked, asked, in_hours, way_through

from autograder.course import load_course

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
COURSE = load_course(ROOT)
CHAPTERS = {unit.number: BOOK / f"{unit.slug}.md" for unit in COURSE.units}


def minutes_of(pattern: str) -> int:
    """Add up the minutes in all chapters, without using the extension."""
    texts = [path.read_text("utf-8") for path in CHAPTERS.values()]
    return sum(int(re.search(pattern, text)[1]) for text in texts)


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_needs_units_before_it_only(number):
    one = asked(CHAPTERS[number].read_text("utf-8"))
    assert all(need < number for need in one.needs)
    assert 20 <= one.reading <= 120 and 20 <= one.notebook <= 240


def test_needs_are_the_links_of_the_line_alone():
    text = (
        "**You need** {doc}`masks <07_masks>`, {doc}`04_attention` and "
        "{doc}`shapes <shapes>`.\n**Time:** 45 minutes to read, 80 for the notebook.\n"
        "Later comes {doc}`09_decoder`.\n"
    )
    assert asked(text) == Asked((4, 7), 45, 80)


@pytest.mark.parametrize("text", ["**You need** no time.", "**Time:** an hour."])
def test_a_chapter_that_does_not_say_is_refused(text):
    with pytest.raises(ValueError, match="found not both"):
        asked(text)


def test_the_table_ends_in_the_sum():
    table = way_through({1: Asked((), 45, 105), 12: Asked((1, 5), 50, 85)})
    assert table[2] == "| 01 | none | 45 | 105 |"
    assert table[3] == "| 12 | 01, 05 | 50 | 85 |"
    assert table[-1] == "| **4 h 45 min in all** | | 1 h 35 min | 3 h 10 min |"


@pytest.mark.parametrize("page", ["index.md", "locale/ko/LC_MESSAGES/index.po"])
def test_the_front_page_states_the_hours_of_all_chapters(page):
    reading = minutes_of(r"\*\*Time:\*\* (\d+) minutes to read")
    notebook = minutes_of(r"minutes to read, (\d+) for the notebook")
    hours = [f"{(reading + notebook) / 60:.0f}", f"{reading / 60:.0f}"]
    text = (BOOK / page).read_text("utf-8")
    stated = (
        r"about (\d+) hours, of which (\d+) are"
        if page == "index.md"
        else (r"약 (\d+)시간이 걸리고, 그중 (\d+)시간")
    )
    assert list(re.search(stated, text).groups()) == hours


@pytest.mark.slow
def test_the_preface_shows_the_sum_of_all_chapters(site):
    page = BeautifulSoup((site / "intro.html").read_text("utf-8"), "html.parser")
    shown = page.article.get_text()
    reading = minutes_of(r"\*\*Time:\*\* (\d+) minutes to read")
    notebook = minutes_of(r"minutes to read, (\d+) for the notebook")
    for minutes in (reading, notebook, reading + notebook):
        assert in_hours(minutes) in shown
