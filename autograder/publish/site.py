"""Convert the built book to the students' site, and remove withheld pages."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.course import Course, Unit

# The book's pages for instructors.
GUIDE = ("instructor", "instructor_details", "other_houses")
PICTURES = "_static/guide"
GUIDE_SOURCES = (*(f"{page}.md" for page in GUIDE), PICTURES)
NOT_YET = "<em>not handed out yet</em>"
EMPTY_PART = re.compile(
    r'<p aria-level="2" class="caption"[^>]*><span [^>]*>[^<]*</span></p>'
    r'\s*<ul class="nav bd-sidenav">\s*</ul>'
)
SEARCH = "Search.setIndex("
BY_WORD = ("terms", "titleterms")


def hide_colab_links(site: Path, course: Course, units: Iterable[Unit]) -> None:
    """Replace links to the notebooks of `units`, which are not published yet."""
    for url in filter(None, map(course.colab_url, units)):
        link = re.compile(rf'<a [^>]*href="{re.escape(url)}"[^>]*>.*?</a>', re.DOTALL)
        for path in site.glob("*.html"):
            _rewrite(path, link.sub(NOT_YET, path.read_text(encoding="utf-8")))


def lead_to_notebooks(site: Path, language: str) -> None:
    """Make a translation's pages link to the only published notebook of each unit."""
    for path in site.glob("*.html"):
        _rewrite(path, as_published(path.read_text(encoding="utf-8"), language))


def as_published(text: str, language: str) -> str:
    """Replace the paths of translated notebooks with the students' paths."""
    return text.replace(f"assignments/{language}/", "assignments/")


def leave_guide_out(site: Path) -> None:
    """Remove the pages for instructors, all links to them, and their images."""
    for page in GUIDE:
        (site / f"{page}.html").unlink(missing_ok=True)
        for path in site.glob("*.html"):
            text = path.read_text(encoding="utf-8")
            for pattern in _links(page):
                text = pattern.sub("", text)
            _rewrite(path, EMPTY_PART.sub("", text))
    shutil.rmtree(site / PICTURES, ignore_errors=True)
    index = site / "searchindex.js"
    if index.is_file():
        _rewrite(index, _without_pages(index.read_text(encoding="utf-8")))


def _links(page: str) -> Iterator[re.Pattern[str]]:
    """Yield patterns for elements that link to a page; the last matches any link."""
    target = rf'href="{page}\.html(#[^"]*)?"'
    yield re.compile(
        rf'<li class="toctree-l[^"]*"><a [^>]*{target}[^>]*>[^<]*</a></li>'
    )
    card = rf'<div class="sd-col (?:(?!<div class="sd-col ).)*?<a [^>]*{target}[^>]*>'
    yield re.compile(rf"{card}.*?</a></div>\s*</div>", re.DOTALL)
    yield re.compile(rf"<link [^>]*{target}[^>]*>")
    yield re.compile(rf"<a [^>]*{target}[^>]*>.*?</a>", re.DOTALL)


def _without_pages(script: str) -> str:
    """Return the search index without the pages for instructors.

    The other pages keep their numbers.
    """
    start, end = script.index(SEARCH) + len(SEARCH), script.rindex(")")
    found: dict[str, Any] = json.loads(script[start:end])
    gone = {n for n, name in enumerate(found.get("docnames", [])) if name in GUIDE}
    if not gone:
        return script
    for kind in BY_WORD:
        kept = {word: _other(pages, gone) for word, pages in found[kind].items()}
        found[kind] = {word: pages for word, pages in kept.items() if pages != []}
    for kind in ("alltitles", "indexentries"):
        kept = {
            words: [place for place in places if place[0] not in gone]
            for words, places in found[kind].items()
        }
        found[kind] = {words: places for words, places in kept.items() if places}
    for number in gone:
        for kind in ("docnames", "filenames", "titles"):
            found[kind][number] = ""
    return script[:start] + json.dumps(found) + script[end:]


def _other(pages: int | list[int], gone: set[int]) -> int | list[int]:
    """Return the page numbers that are not in `gone`.

    Sphinx writes a single number without a list.
    """
    left = [pages] if isinstance(pages, int) else pages
    left = [page for page in left if page not in gone]
    return left[0] if len(left) == 1 else left


def _rewrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
