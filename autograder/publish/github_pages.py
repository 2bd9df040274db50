"""Write the files that GitHub Pages needs to serve the site.

These are the workflow that deploys the site, the 404 page, the sitemap and the tags of
the social card. If the course's `repository` is not on GitHub, none of them is written,
because they contain the site's address.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

from autograder.course import ENGLISH, GITHUB, TRANSLATIONS, Course
from autograder.translations.unit_table import told_in_readme

TEMPLATES = Path(__file__).with_name("templates")
WORKFLOW = ".github/workflows/pages.yml"
CARD, CARD_SIZE = "_static/social_card.png", (1200, 630)
NOT_FOUND, SITEMAP = "404.html", "sitemap.xml"
FRONT_PAGE = "index.html"
UNLISTED = ("genindex.html", "search.html")  # pages that search engines should not list
SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"
TITLE = re.compile(r"<title>(.*?)(?: &#8212; .*?)?</title>", re.DOTALL)
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')


def workflow(course: Course) -> dict[str, str]:
    """Return the workflow that deploys the site, or {} if it is not on GitHub."""
    if not GITHUB.fullmatch(course.repository):
        return {}
    text = (TEMPLATES / "pages.yml").read_text(encoding="utf-8")
    return {WORKFLOW: text.replace("@branch@", course.branch)}


def complete_site(site: Path, course: Course) -> None:
    """Add the social card, sitemap and 404 page to a site if its address is known."""
    address = course.book_url()
    if address is None:
        return
    pages = list(_pages(site))
    has_card = (site / CARD).is_file()
    for name in pages:
        path = site / name
        text = path.read_text(encoding="utf-8")
        tags = _tags(text, course, _address(address, name), has_card)
        _write(path, text.replace("</head>", f"{tags}\n</head>", 1))
    _write(site / SITEMAP, _sitemap(address, pages))
    _write(site / NOT_FOUND, _not_found(course, site, urlsplit(address).path))


def _pages(site: Path) -> Iterator[str]:
    """Yield the pages of the site in each language."""
    for inside in ("", *TRANSLATIONS):
        for path in sorted((site / inside).glob("*.html")):
            yield path.relative_to(site).as_posix()


def _address(site: str, name: str) -> str:
    """Return the address of a page; a front page has the address of its folder."""
    return site + (name.removesuffix(FRONT_PAGE) if name.endswith(FRONT_PAGE) else name)


def _tags(page: str, course: Course, address: str, has_card: bool) -> str:
    """Return the Open Graph and Twitter tags of a page."""
    title, description = TITLE.search(page), DESCRIPTION.search(page)
    told = {
        "og:type": "website",
        "og:site_name": course.title,
        "og:title": html.unescape(title[1]) if title else course.title,
        "og:description": html.unescape(description[1]) if description else "",
        "og:url": address,
    }
    if has_card:
        width, height = CARD_SIZE
        told |= {
            "og:image": f"{course.book_url()}{CARD}",
            "og:image:width": str(width),
            "og:image:height": str(height),
            "og:image:alt": course.title,
        }
    lines = [
        f'<meta property="{name}" content="{html.escape(value)}">'
        for name, value in told.items()
        if value
    ]
    kind = "summary_large_image" if has_card else "summary"
    return "\n".join([*lines, f'<meta name="twitter:card" content="{kind}">'])


def _sitemap(address: str, pages: Sequence[str]) -> str:
    """Return the sitemap, which lists all pages for search engines."""
    table = ElementTree.Element("urlset", xmlns=SCHEMA)
    for name in pages:
        if Path(name).name not in UNLISTED:
            entry = ElementTree.SubElement(table, "url")
            ElementTree.SubElement(entry, "loc").text = _address(address, name)
    ElementTree.indent(table)
    text = ElementTree.tostring(table, "utf-8", xml_declaration=True).decode()
    return f"{text}\n"


def _not_found(course: Course, site: Path, path: str) -> str:
    """Return the 404 page, which is in all languages of the site.

    GitHub serves this page for addresses at any depth, so its links start with the
    site's path.
    """
    parts = []
    for language in (ENGLISH, *TRANSLATIONS):
        inside = "" if language == ENGLISH else f"{language}/"
        if not (site / inside / FRONT_PAGE).is_file():
            continue
        told = told_in_readme(course, language)
        words = (
            told("Page not found"),
            told("The book has no page at this address."),
            told("Go to the front page"),
        )
        heading, sentence, link = map(html.escape, words)
        parts.append(
            f'<section lang="{language}">\n<h1>{heading}</h1>\n<p>{sentence}</p>\n'
            f'<p><a href="{inside}{FRONT_PAGE}">{link}</a></p>\n</section>'
        )
    facts = {
        "title": html.escape(course.title),
        "path": path,
        "parts": "\n".join(parts),
    }
    text = (TEMPLATES / NOT_FOUND).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: facts[match[1]], text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
