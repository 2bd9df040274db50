"""A real browser reads the book from the disk: light and dark, wide and narrow."""

from collections.abc import Callable, Iterator

import pytest
from book_readers import FAULTS, NARROW, WIDE, Reader, whole_page_faults

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]


@pytest.fixture
def read(chromium) -> Iterator[Callable[..., Reader]]:
    readers = []

    def new(width: int = WIDE, theme: str = "light") -> Reader:
        readers.append(Reader(chromium, width, theme))
        return readers[-1]

    yield new
    for reader in readers:
        reader.context.close()


@pytest.mark.parametrize(
    ("theme", "widths"), [("light", (WIDE, NARROW)), ("dark", (NARROW, WIDE))]
)
def test_every_page_is_whole_and_asks_the_network_for_nothing(
    read, site, pages, theme, widths
):
    """Nothing is cut or too small. The test resizes each page."""
    reader, faults = read(widths[0], theme), {}
    for path in pages:
        reader.faults.clear()
        reader.resize(widths[0])
        reader.open(path)
        found = whole_page_faults(reader.page, site)
        reader.resize(widths[1])
        found += reader.faults + whole_page_faults(reader.page, site)
        shown = reader.page.evaluate("document.documentElement.dataset.theme")
        if shown != theme:
            found.append(f"the theme is {shown}, not {theme}")
        if found:
            faults[path.name] = found
    assert faults == {}


def test_first_page_leads_to_the_preface(read, site):
    reader = read()
    reader.open(site / "index.html")
    reader.page.locator("article a[href='intro.html']").press("Enter")
    reader.page.wait_for_url("**/intro.html")
    assert reader.faults == []


def test_search_finds_a_word_and_opens_its_page(read, site):
    reader = read()
    reader.open(site / "intro.html")
    reader.page.keyboard.press("Control+k")
    reader.page.keyboard.type("perplexity")
    reader.page.keyboard.press("Enter")
    reader.page.wait_for_url("**/search.html?*")
    excerpts = reader.page.locator("#search-results .context")
    excerpts.nth(3).wait_for()
    found = excerpts.all_inner_texts()  # the search finds "perplexities" too
    assert all("perplexit" in text.lower() for text in found)
    hit = reader.page.locator("#search-results li a", has_text="Glossary").first
    hit.click()
    reader.page.wait_for_url("**/glossary.html*")
    assert "perplexity" in reader.page.locator("article").inner_text().lower()
    assert reader.faults == []


def test_answers_are_folded_and_unfold_from_the_keyboard(read, chapters):
    reader = read()
    for path in chapters:
        reader.open(path)
        answers = reader.page.locator(".admonition.question details")
        assert answers.count() >= 3, f"{path.name}: three questions are asked for"
        body = answers.first.locator(".sd-summary-content")
        assert not body.is_visible()
        answers.first.locator("summary").focus()
        reader.page.keyboard.press("Enter")
        body.wait_for(state="visible")


def test_paper_is_white_and_answers_are_printed_unfolded(read, chapters):
    reader = read(theme="dark")
    reader.open(chapters[0])
    folded = "document.querySelectorAll('.question details:not([open])').length"
    theme = "document.documentElement.dataset.theme"
    before = reader.page.evaluate(folded)
    reader.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert (reader.page.evaluate(folded), reader.page.evaluate(theme)) == (0, "light")
    reader.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert reader.page.evaluate(folded) == before > 0
    assert reader.page.evaluate(theme) == "dark"


def test_sliders_move_with_the_arrow_keys(read, chapters):
    reader, moved = read(NARROW, "dark"), 0
    for path in chapters:
        reader.open(path)
        for figure in reader.page.locator(".slider-figure").all():
            slider = figure.locator("input[type=range]")
            slider.focus()
            reader.page.keyboard.press("Home")
            first = figure.locator("output").inner_text()
            assert figure.locator("img:visible").count() == 1
            reader.page.keyboard.press("ArrowRight")
            second = figure.locator("output").inner_text()
            assert second != first
            assert slider.get_attribute("aria-valuetext") == second
            shown = figure.locator("img:visible")
            assert shown.count() == 1
            assert second in shown.get_attribute("alt")
            moved += 1
    assert moved >= 1


def test_wide_code_scrolls_in_its_own_box(read, chapters):
    reader = read(NARROW)
    reader.open(chapters[0])
    widest = reader.page.evaluate(
        "Math.max(...[...document.querySelectorAll('article pre')]"
        ".map((box) => box.scrollWidth - box.clientWidth))"
    )
    assert widest > 0, "nothing on this page is wide enough to test"
    assert reader.page.evaluate(FAULTS) == []
