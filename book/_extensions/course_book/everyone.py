"""What pages need to be found and read by everyone: mended roles, a description.

Sphinx and its extensions write some attributes that readers of screens are misled by;
axe-core names them, and `tests/book/test_book_axe.py` holds every page to it.
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
    # It hides the words that are seen, "Show code cell source".
    ' aria-label="Toggle hidden content"': "",
    # ARIA has withdrawn the role; the list around it wants items.
    'role="doc-biblioentry"': 'role="listitem"',
}
SCREEN = re.compile(r'(<figure class="screen">\s*)(<img src="([^"]+)"[^>]*>)')
LONGEST = 300  # characters of a description
AN_END = re.compile(r"\n|(?<=[가-힣][.?!]) ")  # a translated paragraph is one line


def _without_source() -> dict[str, str]:
    """Say what the pages are about that have no source."""
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
    """Replace what says something wrong, and lead from a picture of a screen to itself.

    On a telephone such a picture is too small to read; the browser shows it larger.
    """
    body = SCREEN.sub(r'\1<a href="\3">\2</a>', context.get("body", ""))
    for wrong, right in MENDED.items():
        body = body.replace(wrong, right)
    if body:
        context["body"] = body


def description(doctree: nodes.document) -> str:
    """Return the first sentences of a page: a line of its source is a sentence."""
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
    """Say in the head of a page what it is about, for those who have searched."""
    text = description(doctree) if doctree else _without_source().get(page, "")
    if text:
        tag = f'<meta name="description" content="{html.escape(text)}">'
        context["metatags"] = f"{context.get('metatags', '')}\n{tag}"
