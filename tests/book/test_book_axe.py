"""No page of the book shuts anyone out: axe-core finds nothing, with all unfolded.

All pages are read at two of the four kinds of window, some at the two others.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe import barriers
from chromium import PATIENCE

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

WIDE, NARROW = 1280, 390
SAMPLE = ("index", "06_feed_forward", "references", "instructor")
READY = """async () => {
  const figures = [...document.querySelectorAll(".live-figure")];
  figures.forEach((figure) => figure.scrollIntoView());
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  while (figures.some((figure) => !figure.querySelector("[data-ready]")))
    await new Promise((next) => setTimeout(next, 50));
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  const moving = document.getAnimations().filter(
    (motion) => motion.effect.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(moving.map((motion) => motion.finished));
}"""


@contextmanager
def window(chromium: object, width: int, theme: str) -> Iterator[object]:
    """Open a window of the browser; playwright's page."""
    size = {"width": width, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme=theme)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def read(page: object, address: str) -> None:
    """Open a page, and all that is folded in it."""
    page.goto(address)
    page.evaluate(READY)


@pytest.mark.parametrize(("theme", "width"), [("light", WIDE), ("dark", NARROW)])
def test_axe_finds_nothing_on_any_page(chromium, pages, theme, width):
    found = {}
    with window(chromium, width, theme) as page:
        for path in pages:
            read(page, path.as_uri())
            assert page.locator("html").get_attribute("data-theme") == theme
            if faults := barriers(page):
                found[path.stem] = faults
    assert found == {}


@pytest.mark.parametrize(("theme", "width"), [("dark", WIDE), ("light", NARROW)])
def test_axe_finds_nothing_in_the_other_windows(chromium, site, theme, width):
    found = {}
    with window(chromium, width, theme) as page:
        for name in SAMPLE:
            read(page, (site / f"{name}.html").as_uri())
            found[name] = barriers(page)
    assert found == {name: [] for name in SAMPLE}


@pytest.mark.parametrize(("theme", "width"), [("light", NARROW), ("dark", WIDE)])
def test_axe_finds_nothing_in_what_opens_over_a_page(chromium, site, theme, width):
    """The field to search, what was found, and the contents on a telephone."""
    found = {}
    with window(chromium, width, theme) as page:
        read(page, (site / "shapes.html").as_uri())
        page.keyboard.press("Control+k")
        page.locator(".search-button__wrapper.show input").wait_for()
        found["field"] = barriers(page)
        page.keyboard.press("Escape")
        if width == NARROW:
            page.locator(".primary-toggle").click()
            page.locator(".bd-sidebar-primary nav").wait_for(state="visible")
            page.wait_for_timeout(500)  # it slides in
            found["contents"] = barriers(page)
        read(page, (site / "search.html").as_uri() + "?q=mask")
        page.locator("#search-results .context").first.wait_for()
        found["results"] = barriers(page)
    assert found == {name: [] for name in found}


def rules_broken(chromium: object, path: Path, body: str) -> set[str]:
    head = '<!doctype html><html lang="en"><title>x</title>'
    path.write_text(f"{head}<main><h1>x</h1>{body}</main></html>", "utf-8")
    with window(chromium, WIDE, "light") as page:
        page.goto(path.as_uri())
        return {fault.partition(",")[0] for fault in barriers(page)}


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
