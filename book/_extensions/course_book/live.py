"""The directive `{live-translator}`: the course's Transformer, running in the page.

Its script is in `book/live/`. This module writes it as three files of the built book.
Only pages with the figure load them, and the model is loaded only when the reader gets
near the figure.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from transformer.shipped_model.weights import FOLDER as SHIPPED

from .live_picture import picture
from .live_script import LIVE, write_files
from .words import said

FOLDS = ("heads", "beam", "model", "table", "own")
KINDS = ("encoder", "self", "cross")
MARK = '<div class="live-figure">'


def folds(text: str) -> str:
    """Return the names of the parts to unfold; raise ValueError for an unknown name."""
    names = text.split()
    if others := set(names) - set(FOLDS):
        raise ValueError(f"expected some of {', '.join(FOLDS)}, found {sorted(others)}")
    return " ".join(names)


def kind(text: str) -> str:
    """Return the name of an attention; raise ValueError for an unknown name."""
    return directives.choice(text, KINDS)


def switch(text: str) -> int:
    """Return 1 for "on" and 0 for "off"; raise ValueError for anything else."""
    return {"on": 1, "off": 0}[directives.choice(text, ("on", "off"))]


def attribute(value: object) -> str:
    """Return a value as text for an HTML attribute."""
    return html.escape(value if isinstance(value, str) else json.dumps(value))


def figure(
    number: int, settings: Mapping[str, Any], opened: str, examples: list[Any]
) -> str:
    """Return the HTML of the figure: a box that the script fills, and a picture.

    The picture is for readers without a script.

    Args:
        number: the number of the figure on its page, from 1.
        settings: settings with the names that `view/state.js` uses; "text" is the
            sentence.
        opened: names of the parts to unfold.
        examples: sentences to choose from, each with "text" and "why".
    """
    examples = [{**one, "why": said(one["why"])} for one in examples]
    data = {"settings": urlencode(settings), "open": opened, "examples": examples}
    written = " ".join(f'data-{name}="{attribute(v)}"' for name, v in data.items())
    box = f'<div class="live-translator" id="live-{number}" {written}></div>'
    still = f'<div class="live-fallback">{picture(settings["text"])}</div>'
    return f"{MARK}{box}{still}</div>"


class LiveTranslator(SphinxDirective):
    """Write the figure, with the initial settings from the options.

    Options are `sentence`; `word` (the highlighted word of the translation, from 1);
    `open` (the unfolded parts); `attention`, `layer` and `head` (from 1; by default all
    heads); `k`, `alpha` and `temperature`; `mask` and `positions` (on or off).
    """

    option_spec: ClassVar = {
        "sentence": directives.unchanged_required,
        "open": folds,
        "attention": kind,
        "word": directives.positive_int,
        "layer": directives.positive_int,
        "head": directives.positive_int,
        "k": directives.positive_int,
        "alpha": float,
        "temperature": float,
        "mask": switch,
        "positions": switch,
    }

    def settings(self, sentence: str) -> dict[str, Any]:
        """Return the options with the names of `view/state.js`, counted from 0."""
        counted = {"word": "at", "layer": "layer", "head": "head"}
        renamed = {"attention": "kind", "mask": "causal"}
        same = ("k", "alpha", "temperature", "positions")
        options = self.options
        return (
            {"text": sentence}
            | {counted[name]: options[name] - 1 for name in counted if name in options}
            | {renamed[name]: options[name] for name in renamed if name in options}
            | {name: options[name] for name in same if name in options}
        )

    def run(self) -> list[nodes.Node]:
        """Return the figure; it is made again when the model or its examples change."""
        examples_file = LIVE / "examples.json"
        for path in (SHIPPED / "tiny.json", examples_file):
            self.env.note_dependency(str(path))
        examples = json.loads(examples_file.read_text("utf-8"))
        sentence = self.options.get("sentence", examples[0]["text"])
        number = self.env.new_serialno("live") + 1
        settings, opened = self.settings(sentence), self.options.get("open", "")
        text = figure(number, settings, opened, examples)
        return [nodes.raw("", text, format="html")]


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Load the script and its style only on pages with the figure.

    The front page also loads the model at once, because it begins with the figure.
    """
    if MARK in context.get("body", ""):
        app.add_css_file("../live/live.css")
        if page == app.config.root_doc:
            app.add_js_file("../live/tiny-model.js", loading_method="defer")
        app.add_js_file("../live/live.js", loading_method="defer")


def write_live_files(app: Sphinx) -> None:
    """Write the script, its style and the model into a book of web pages."""
    if app.builder.format == "html":
        write_files(Path(app.outdir) / "live")
