"""Translate the texts of sliders: titles, positions and text alternatives.

`transformer.plots.slider` writes them into HTML when a chapter is executed, which
happens once for all languages. This module makes them messages of the page's catalogue.
"""

from __future__ import annotations

import gettext
import html
import re
from collections.abc import Callable, Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from .translated import GETTEXT, is_translation, locale_dir

MARK = '<figure class="slider-figure">'
FRAME = re.compile(r'alt="([^"]*)" data-label="([^"]*)"')
TITLE = re.compile(r"(<label [^>]*>)([^<]*)")
SHOWN = re.compile(r'(aria-valuetext="|<output [^>]*>)([^"<]*)')


def messages(markup: str) -> Iterator[str]:
    """Yield the texts of a slider, each once: its title, alternatives and positions."""
    found = [html.unescape(title[2]) for title in TITLE.finditer(markup)]
    for frame in FRAME.finditer(markup):
        found += _parts(frame)
    yield from dict.fromkeys(found)


def translated(markup: str, say: Callable[[str], str]) -> str:
    """Return a slider with translated texts."""

    def put_frame(frame: re.Match[str]) -> str:
        alt, label = (say(part) for part in _parts(frame))
        text = html.escape(f"{alt} ({label})")
        return f'alt="{text}" data-label="{html.escape(label)}"'

    def put(match: re.Match[str]) -> str:
        return match[1] + html.escape(say(html.unescape(match[2])))

    return SHOWN.sub(put, TITLE.sub(put, FRAME.sub(put_frame, markup)))


def _parts(frame: re.Match[str]) -> tuple[str, str]:
    """Return the text alternative of a frame and the label of its position."""
    alt, label = html.unescape(frame[1]), html.unescape(frame[2])
    return alt.removesuffix(f" ({label})"), label


def translate_sliders(app: Sphinx, doctree: nodes.document) -> None:
    """Translate the sliders of a page; for gettext, list their texts."""
    listing = app.builder.name == GETTEXT
    if not (listing or is_translation(app)):
        return
    where, languages = locale_dir(app), [app.config.language]
    catalogue = gettext.translation(app.env.docname, where, languages, fallback=True)
    for node in list(doctree.findall(nodes.raw)):
        markup = node.astext()
        if MARK not in markup:
            continue
        if not listing:
            node[:] = [nodes.Text(translated(markup, catalogue.gettext))]
            continue
        for text in messages(markup):
            paragraph = nodes.paragraph(text, text)
            paragraph.source, paragraph.line = doctree["source"], node.line or 1
            node.parent.append(paragraph)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the translation of sliders with Sphinx."""
    app.connect("doctree-read", translate_sliders, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
