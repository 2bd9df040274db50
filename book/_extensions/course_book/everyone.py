"""Make pages accessible and easy to find: correct roles, and add a description.

Sphinx and its extensions write some attributes that mislead screen readers. axe-core
reports them, and `tests/book/test_book_axe.py` checks every page with it.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from .gloss import gloss
from .words import said

MENDED = {
    # This label would replace the visible words, "Show code cell source".
    ' aria-label="Toggle hidden content"': "",
    # ARIA has withdrawn this role, and the surrounding list needs items.
    'role="doc-biblioentry"': 'role="listitem"',
}
SCREEN = re.compile(r'(<figure class="screen">\s*)(<img src="([^"]+)"[^>]*>)')
LONGEST = 300  # maximum characters of a description
AN_END = re.compile(r"\n|(?<=[가-힣][.?!]) ")  # translated paragraphs are one line


def _without_source() -> dict[str, str]:
    """Return descriptions of the pages that have no source file."""
    return {
        "genindex": said(
            "The terms of the book, from A to Z, each with the place that says what "
            "it means."
        ),
        "search": said("Look for words in every page of the book."),
    }


def mend(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Correct wrong attributes, and link each screenshot to its image file.

    On a phone a screenshot is too small to read. The link opens it in full size.
    """
    body = SCREEN.sub(r'\1<a href="\3">\2</a>', context.get("body", ""))
    for wrong, right in MENDED.items():
        body = body.replace(wrong, right)
    if body:
        context["body"] = body


def description(doctree: nodes.document) -> str:
    """Return the first sentences of a page; each source line is one sentence."""
    paragraphs = doctree.findall(nodes.paragraph)
    first = next((one for one in paragraphs if not isinstance(one.parent, gloss)), None)
    text = ""
    for sentence in AN_END.split(first.astext()) if first else ():
        if text and len(text) + len(sentence) >= LONGEST:
            break
        text = f"{text} {sentence}".strip()
    return text


def describe(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Add a description to the head of a page, for search engines."""
    text = description(doctree) if doctree else _without_source().get(page, "")
    if text:
        tag = f'<meta name="description" content="{html.escape(text)}">'
        context["metatags"] = f"{context.get('metatags', '')}\n{tag}"
