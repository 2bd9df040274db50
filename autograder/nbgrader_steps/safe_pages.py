"""Stop a student's Markdown and name from adding active HTML to a page.

nbconvert copies raw HTML in Markdown unchanged into the feedback pages that students
open, and into formgrader, where an instructor is logged in.
"""

import functools
import re
import time
from html import escape
from pathlib import Path
from typing import Any

import nbgrader
from jinja2 import pass_context
from jinja2.runtime import Context
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.nbgrader_steps.formulas import mathml
from autograder.sandbox.safe_html import (
    ATTACHMENT,
    Attachments,
    picture_address,
    put_pictures_aside,
    safe_html,
)

AUTOGRADER = Path(__file__).resolve().parents[1]
PAGES = AUTOGRADER / "pages"
NBGRADER = Path(nbgrader.__file__).parent
NBGRADERS_PAGES = NBGRADER / "server_extensions" / "formgrader" / "templates"
MAX_LENGTH, MAX_SECONDS = 20_000, 5.0  # limits per text and per page
SHOWN = 200_000
MAX_DEPTH = 100
VOID = {"br", "hr", "img", "input", "wbr", "col", "area"}
SPENT = "seconds_of_markdown"
NAMES = ("student", "first_name", "last_name", "notebook_path", "filename")


@pass_context
def safe_markdown(context: Context, source: str) -> str:
    """Render a cell's Markdown with formulas as MathML, and clean the HTML.

    If rendering could take minutes, the source is shown instead.
    """
    page = context.get("resources")
    page = page if page is not None else {}
    carried = (context.get("cell") or {}).get("attachments", {})
    source, attachments = put_pictures_aside(source, carried)
    if len(source) > MAX_LENGTH or page.get(SPENT, 0.0) > MAX_SECONDS:
        return _as_written(source)
    started = time.monotonic()
    html = _rendered(source, attachments) if attachments else _without(source)
    page[SPENT] = page.get(SPENT, 0.0) + time.monotonic() - started
    return _unbracketed(html) if _depth(html) <= MAX_DEPTH else _as_written(source)


def _as_written(source: str) -> str:
    return f"<pre>{_unbracketed(escape(source[:SHOWN]))}</pre>"


def _depth(html: str) -> int:
    """Return the nesting depth of the elements in clean HTML."""
    depth = most = 0
    for mark, name in re.findall(r"<(/?)(\w+)", html):
        if name not in VOID:
            depth += -1 if mark else 1
            most = max(most, depth)
    return most


def _unbracketed(html: str) -> str:
    """Escape brackets, because nbconvert's search for links in them is slow."""
    return html.replace("[", "&#91;")


@functools.lru_cache(1000)
def _without(source: str) -> str:
    """Render a text without images; cache it, because pages share most texts."""
    return _rendered(source, {})


def _rendered(source: str, attachments: Attachments) -> str:
    renderer = PlainRenderer(
        escape=False,
        attachments=attachments,  # type: ignore[arg-type]  # only read
        embed_images=False,  # otherwise a path in the text could embed any of our files
        exclude_anchor_links=True,  # a heading could have the name of a form field
    )
    html = MarkdownWithMath(renderer=renderer).render(source)
    return safe_html(html, attachments)


class PlainRenderer(IPythonRenderer):
    """Render Markdown without colours, and with only the cell's own images.

    There are no colours, because they need classes, which `safe_html` removes.
    """

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return a block of code as HTML."""
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def inline_math(self, body: str) -> str:
        """Return a formula that is within a line."""
        return mathml(body)

    def block_math(self, body: str) -> str:
        """Return a formula that is on a separate line."""
        return mathml(body, "block")

    def latex_environment(self, name: str, body: str) -> str:
        """Return a formula in a named environment, such as `align`."""
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return an image, or a text in its place if the cell does not contain it."""
        if picture_address(url, self.attachments) is not None:
            return HTMLRenderer.image(self, text, url, title)
        where = escape(url.removeprefix(ATTACHMENT))
        if url.startswith(("http://", "https://")):
            where = f'<a href="{where}">{where}</a>'
        return f"<em>(A picture that is not in the notebook: {where})</em>"


class EscapeNames(Preprocessor):
    """Escape names before formgrader writes a submission's page.

    First and last names may be any text. Ids that could run code are already refused by
    `grading/student_names.py`.
    """

    enabled = True

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook unchanged, and the resources with escaped names."""
        names = {
            key: escape(resources[key])
            for key in NAMES
            if isinstance(resources.get(key), str)
        }
        resources.update(names)
        return nb, resources


def our_file(name: str) -> str:
    """Return the text of a file of ours that every page includes."""
    return (PAGES / name).read_text(encoding="utf-8")


def configure_pages(c: Config) -> None:
    """Make feedback pages and formgrader show clean Markdown and escaped names.

    Raw cells are left out, because nbconvert would copy them into the page unchanged.
    """
    filters: dict[str, Any] = {
        "markdown2html": safe_markdown,
        "our_file": our_file,
    }
    c.HTMLExporter.filters = filters
    c.HTMLExporter.raw_mimetypes = []
    c.HTMLExporter.preprocessors = [EscapeNames]
    c.HTMLExporter.extra_template_basedirs = [str(PAGES), str(NBGRADERS_PAGES)]
