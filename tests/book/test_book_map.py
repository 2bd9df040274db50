"""The map of the Transformer leads to its chapters by pointer, keyboard and print."""

from collections.abc import Iterator

import pytest
from book_readers import NARROW, WIDE
from chromium import PATIENCE

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]


@pytest.fixture(scope="module")
def window(chromium) -> Iterator[object]:
    """Open a browser's page without formulas, which would take most of the time."""
    context = chromium.new_context(color_scheme="dark")
    context.set_default_timeout(PATIENCE)
    context.route("**/tex-svg-full.js", lambda route: route.abort())
    yield context.new_page()
    context.close()


def resize(window, width: int) -> None:
    window.set_viewport_size({"width": width, "height": 900})
    window.wait_for_function("width => window.innerWidth === width", arg=width)


def test_each_chapter_shows_the_map_with_its_own_part_lit(window, chapters):
    resize(window, WIDE)
    for path in chapters:
        window.goto(path.as_uri())
        fold = window.locator("details.map-fold")
        assert fold.locator("summary svg.stamp .lit").count(), path.name
        assert not fold.locator("svg.map.wide:not(.stamp)").is_visible()
        fold.locator("summary").focus()
        window.keyboard.press("Enter")
        fold.locator("svg.map.wide:not(.stamp)").wait_for(state="visible")
        number = int(path.name[:2])
        title = window.locator("title", has_text=f"(unit {number}, lit)")
        own = fold.locator("svg.map.wide a.lit", has=title)
        assert own.count(), path.name


def test_the_map_leads_to_every_chapter(window, site, chapters):
    window.goto((site / "index.html").as_uri())
    for width, kind in ((WIDE, "wide"), (NARROW, "narrow")):
        resize(window, width)
        links = window.locator(f"svg.map.{kind} a")
        assert links.first.is_visible()
        led = {link.get_attribute("href") for link in links.all()}
        assert led == {path.name for path in chapters}
    window.locator('svg.map.narrow a[href^="07_"]').first.click()
    window.wait_for_url("**/07_masks.html")


def test_the_keyboard_reaches_every_part_of_the_map(window, site):
    window.goto((site / "index.html").as_uri())
    resize(window, WIDE)
    parts = window.locator("svg.map.wide a").count()
    window.locator(".show-dropout").focus()
    reached = []
    for _ in range(parts):
        window.keyboard.press("Tab")
        reached.append(window.locator(":focus > title").text_content())
    wanted = window.locator("svg.map.wide a > title").all_text_contents()
    assert reached == wanted
    window.keyboard.press("Enter")
    window.wait_for_url("**/13_multi30k.html")


def test_places_of_dropout_are_shown_and_hidden_without_a_script(window, site):
    window.goto((site / "index.html").as_uri())
    for width, kind in ((WIDE, "wide"), (NARROW, "narrow")):
        resize(window, width)
        marks = window.locator(f"svg.map.{kind} .dropout .drop:visible")
        window.locator(".show-dropout").focus()
        assert marks.count() == 0
        window.keyboard.press("Space")
        assert marks.count() == 7 + 2 + 2  # and those of the legend
        window.keyboard.press("Space")


def test_paper_has_the_map_without_its_choice(window, site):
    window.goto((site / "06_feed_forward.html").as_uri())
    window.emulate_media(media="print")
    drawn = window.locator(".drawing-room:has(input[checked])")
    assert drawn.locator("svg.map:visible").count() == 1
    assert drawn.locator(".drop:visible").count() == 7 + 2 + 2
    assert not drawn.locator("input").is_visible()
    window.emulate_media(media="screen")
