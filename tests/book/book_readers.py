"""Windows of a browser in which tests read the book."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chromium import PATIENCE

WIDE, NARROW = 1280, 390

# The faults of the open page, as a list of sentences. A picture may have different
# files for different widths, so the script waits for the file of this width.
FAULTS = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  await Promise.allSettled([...document.images].map((image) => image.decode()));
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    faults.push(`scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}`);
  for (const image of document.images) {
    if (!image.complete || image.naturalWidth === 0)
      faults.push(`image not loaded: ${image.src.slice(0, 80)}`);
    if (image.closest('article') && !image.alt.trim())
      faults.push(`image without text: ${image.src.slice(0, 80)}`);
  }
  for (const formula of document.querySelectorAll('.math')) {
    if (!formula.querySelector('mjx-container[jax="SVG"] svg'))
      faults.push(`formula not drawn: ${formula.textContent.slice(0, 60)}`);
    if (formula.querySelector('[data-mml-node="merror"]'))
      faults.push(`formula with an error: ${formula.textContent.slice(0, 60)}`);
    const inLine = formula.tagName === 'SPAN' ? [formula, ...formula.children] : [];
    if (inLine.some((box) => getComputedStyle(box).overflowX !== 'visible'))
      faults.push(`a stop of the tab key: ${formula.textContent.slice(0, 60)}`);
  }
  return faults;
}"""

# The cut parts of the open page, as a list of sentences.
CUT = """() => {
  const faults = [];
  const article = document.querySelector('article');
  if (!article) return faults;
  const name = (node) => node.id || node.closest('[id]')?.id;
  const page = document.documentElement.clientWidth + 1;
  const code = page > 1200 ? article.querySelectorAll('.cell_input pre') : [];
  for (const box of code)
    if (box.scrollWidth > box.clientWidth + 1)
      faults.push(`code is cut: ${box.innerText.slice(0, 60)}`);
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

# The words of figures that are smaller than this many pixels. The words of an SVG file
# are paths, so the test looks up their size: [file, pixels a point].
SMALL = """(least) => {
  const faults = [], files = [];
  for (const text of document.querySelectorAll('article svg.drawing text')) {
    if (!text.checkVisibility() || !text.getBoundingClientRect().width) continue;
    const {a, b} = text.getScreenCTM();  // tilted words too
    const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
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
UNFOLD_MAP = """() => {
  document.querySelectorAll(".map-fold").forEach((fold) => { fold.open = true; });
}"""
LEAST = 9  # pixels of words in a figure on a telephone

# Start all figures, and open all folded parts.
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


class Reader:
    """One browser window that records every error in it."""

    def __init__(self, chromium: object, width: int, theme: str) -> None:
        self.context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", self.note_message)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self.note_request)
        self.page.on("requestfailed", self.note_failure)

    def note_message(self, message: object) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text[:200]}")

    def note_request(self, request: object) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.faults.append(f"request to {request.url}")

    def note_failure(self, request: object) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page before was left too early
            self.faults.append(f"failed {request.url}: {request.failure}")

    def resize(self, width: int) -> None:
        """Change the window's width, and wait until the page has reacted."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.wait_for_function("width => window.innerWidth === width", arg=width)

    def open(self, path: Path, query: str = "") -> None:
        self.page.goto(path.as_uri() + query)
        self.page.evaluate(
            "async () => { await window.MathJax?.startup?.promise;"
            " await document.fonts.ready;"
            " const lazy = [...document.querySelectorAll('img[loading=lazy]')];"
            " await Promise.all(lazy.map((image) => {"
            "   image.loading = 'eager'; return image.decode(); })); }"
        )


@contextmanager
def window(chromium: object, width: int, theme: str) -> Iterator[object]:
    """Open a window of the browser, and return playwright's page."""
    size = {"width": width, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme=theme)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def unfold(page: object, address: str) -> None:
    """Open a page with all its folded parts."""
    page.goto(address)
    page.evaluate(READY)


def smallest_words(svg: str) -> float:
    """Return the size of the smallest words of a figure, as a share of its width."""
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', svg)[1])
    return min((100 * float(size) for size in SIZE.findall(svg)), default=width) / width


def too_small(page: object, site: Path) -> list[str]:
    """Report the words of figures that are too small on the open page."""
    faults, files = page.evaluate(SMALL, LEAST)
    for name, width in files:
        share = smallest_words((site / "_images" / name).read_text("utf-8"))
        if share * width < LEAST:
            faults.append(f"{name}: {share * width:.1f} px")
    return faults


def whole_page_faults(page: object, site: Path) -> list[str]:
    """Report wrong and cut parts of the open page, and small words on a telephone."""
    found = page.evaluate(FAULTS)
    if page.viewport_size["width"] == NARROW:
        page.evaluate(UNFOLD_MAP)
        found += too_small(page, site)
    return found + page.evaluate(CUT)
