"""Nothing on a page is cut or too small to read, on a laptop and on a telephone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import PATIENCE

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

WIDE, NARROW = 1280, 390
LEAST = 9  # pixels, of words in a figure on a telephone

READY = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  const lazy = [...document.querySelectorAll('img[loading=lazy]')];
  await Promise.all(lazy.map((image) => {
    image.loading = 'eager'; return image.decode(); }));
}"""

UNFOLD = "document.querySelectorAll('.map-fold').forEach((fold) => fold.open = true)"

# What of the page that is open is cut, as a list of sentences.
CUT = """() => {
  const faults = [];
  const article = document.querySelector('article');
  if (!article) return faults;
  const name = (node) => node.id || node.closest('[id]')?.id;
  const page = document.documentElement.clientWidth + 1;
  const boxes = article.querySelectorAll(
    'mjx-container, .math, table, figure, svg.drawing, img');
  for (const box of boxes) {
    if (!box.checkVisibility() || !box.getBoundingClientRect().width) continue;
    const what = `${box.tagName.toLowerCase()} in ${name(box)}`;
    const right = box.getBoundingClientRect().right;
    if (right > page) faults.push(`${what} leaves the page`);
    for (let around = box; around !== article; around = around.parentElement) {
      const hides = getComputedStyle(around).overflowX !== 'visible';
      if (hides && around.scrollWidth > around.clientWidth + 1) {
        const sizes = `${around.scrollWidth} > ${around.clientWidth}`;
        faults.push(`${what} is cut: ${sizes}`);
        break;
      }
    }
  }
  return faults;
}"""

# The words of figures that are smaller than so many pixels. Those of an SVG file are
# looked up by the test, as they are paths: [file, pixels a point].
SMALL = """(least) => {
  const faults = [], files = [];
  for (const text of document.querySelectorAll('article svg.drawing text')) {
    if (!text.checkVisibility() || !text.getBoundingClientRect().width) continue;
    const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    if (size < least) faults.push(`${text.textContent}: ${size.toFixed(1)} px`);
  }
  const images = 'article img:not([hidden])';
  for (const image of document.querySelectorAll(images)) {
    const source = [...image.parentElement.querySelectorAll('source')].find(
      (source) => matchMedia(source.media).matches);
    const share = (source ?? image).dataset.words;
    if (share && share * image.clientWidth < least)
      faults.push(`slider: ${(share * image.clientWidth).toFixed(1)} px`);
    const file = image.currentSrc.split('/').pop();
    if (image.currentSrc.includes('_images/') && file.endsWith('.svg'))
      files.push([file, image.clientWidth]);
  }
  return [faults, files];
}"""

SIZE = re.compile(r'<g id="text_\d+">.*?scale\(([\d.]+) -[\d.]+\)', re.S)


def smallest_words(svg: str) -> float:
    """Return the size of the smallest words of a figure, as a share of its width."""
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', svg)[1])
    return min((100 * float(size) for size in SIZE.findall(svg)), default=width) / width


@pytest.fixture(scope="module", params=["light", "dark"])
def window(request, chromium) -> Iterator[object]:
    """A browser's page in the light or the dark theme."""
    context = chromium.new_context(color_scheme=request.param)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def resize(window, width: int) -> None:
    window.set_viewport_size({"width": width, "height": 900})
    window.wait_for_function("width => window.innerWidth === width", arg=width)


def too_small(window, site: Path) -> list[str]:
    faults, files = window.evaluate(SMALL, LEAST)
    for name, width in files:
        share = smallest_words((site / "_images" / name).read_text("utf-8"))
        if share * width < LEAST:
            faults.append(f"{name}: {share * width:.1f} px")
    return faults


def test_nothing_is_cut_and_no_words_of_a_figure_are_too_small(window, site, pages):
    """Each page is opened once a theme, on a laptop, and then made narrow."""
    faults = {}
    for path in pages:
        resize(window, WIDE)
        window.goto(path.as_uri())
        window.evaluate(READY)
        found = window.evaluate(CUT)
        resize(window, NARROW)
        window.evaluate(
            "document.querySelectorAll('.map-fold').forEach(f => f.open = true)"
        )
        found += [f"narrow: {fault}" for fault in window.evaluate(CUT)]
        found += too_small(window, site)
        if found:
            faults[path.name] = found
    assert faults == {}


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
        assert marks.count() == 7 + 2 + 2  # and the two of the legend
        window.keyboard.press("Space")


def test_paper_has_the_map_without_its_choice(window, site):
    window.goto((site / "06_feed_forward.html").as_uri())
    window.emulate_media(media="print")
    drawn = window.locator(".drawing-room:has(input[checked])")
    assert drawn.locator("svg.map:visible").count() == 1
    assert drawn.locator(".drop:visible").count() == 7 + 2 + 2
    assert not drawn.locator("input").is_visible()
    window.emulate_media(media="screen")
