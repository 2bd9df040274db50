"""Every page of the book is accessible: axe-core finds nothing, with all parts open.

Two of the four kinds of window open all pages, and the two others open some pages.
"""

from pathlib import Path

import pytest
from axe import barriers
from book_readers import NARROW, WIDE, unfold, window

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]

SAMPLE = ("index", "06_feed_forward", "references", "instructor")


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", WIDE), ("dark", NARROW)])
def test_axe_finds_nothing_on_any_page(chromium, pages, theme, width):
    found, judged = {}, set()
    with window(chromium, width, theme) as page:
        for path in pages:
            unfold(page, path.as_uri())
            assert page.locator("html").get_attribute("data-theme") == theme
            if faults := barriers(page, judged):
                found[path.stem] = faults
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("dark", WIDE), ("light", NARROW)])
def test_axe_finds_nothing_in_the_other_windows(chromium, site, theme, width):
    found = {}
    with window(chromium, width, theme) as page:
        for name in SAMPLE:
            unfold(page, (site / f"{name}.html").as_uri())
            found[name] = barriers(page)
    assert found == {name: [] for name in SAMPLE}


# In the theme of Jupyter Book 1, and in the newest theme.
SEARCH_FIELD = ".search-button__wrapper.show input, #pst-search-dialog[open] input"


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", NARROW), ("dark", WIDE)])
def test_axe_finds_nothing_in_what_opens_over_a_page(chromium, site, theme, width):
    """The search field, the results, and the contents on a telephone."""
    found = {}
    with window(chromium, width, theme) as page:
        unfold(page, (site / "shapes.html").as_uri())
        page.keyboard.press("Control+k")
        page.locator(SEARCH_FIELD).wait_for()
        found["field"] = barriers(page)
        page.keyboard.press("Escape")
        if width == NARROW:
            page.locator(".primary-toggle").click()
            page.locator(".bd-sidebar-primary nav").wait_for(state="visible")
            page.wait_for_timeout(500)  # the contents slide in
            found["contents"] = barriers(page)
        unfold(page, (site / "search.html").as_uri() + "?q=mask")
        page.locator("#search-results .context").first.wait_for()
        found["results"] = barriers(page)
    assert found == {name: [] for name in found}


def rules_broken(
    chromium: object, path: Path, body: str, judged: set[str] | None = None
) -> set[str]:
    head = '<!doctype html><html lang="en"><title>x</title>'
    path.write_text(f"{head}<main><h1>x</h1>{body}</main></html>", "utf-8")
    with window(chromium, WIDE, "light") as page:
        page.goto(path.as_uri())
        return {fault.partition(",")[0] for fault in barriers(page, judged)}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<p style='color: #999'>pale</p>", "color-contrast"),
        ("<button aria-label='Find'>Search</button>", "label-content-name-mismatch"),
        ("<table><tr><th></th></tr><tr><td>1</td></tr></table>", "empty-table-header"),
        ("</main><p>outside</p><main>", "region"),
    ],
)
def test_axe_sees_what_the_book_once_had(chromium, tmp_path, body, rule):
    assert rule in rules_broken(chromium, tmp_path / "page.html", body)
    assert rules_broken(chromium, tmp_path / "page.html", "<p>plain</p>") == set()


CODE = "<div class='highlight'><pre tabindex='0'><span {style}>word</span></pre></div>"


def test_words_of_code_are_judged_once_for_each_look(chromium, tmp_path):
    plain, pale = CODE.format(style=""), CODE.format(style="style='color: #999'")
    path = tmp_path / "page.html"
    assert rules_broken(chromium, path, plain * 2 + pale) == {"color-contrast"}
    judged: set[str] = set()
    assert rules_broken(chromium, path, plain, judged) == set()
    assert rules_broken(chromium, path, pale, judged) == {"color-contrast"}
