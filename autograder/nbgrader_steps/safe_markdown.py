"""Turn Markdown into HTML in which no script of a student's runs.

nbconvert hands raw HTML in Markdown on as it is, to the feedback pages that students
open and to formgrader, where an instructor is logged in.
"""

import re
import time
from html import escape
from pathlib import Path
from typing import Any

import nbgrader
import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from traitlets.config import Config

from autograder.nbgrader_steps.escaped_names import EscapeNames

AUTOGRADER = Path(__file__).resolve().parents[1]
PAGES = AUTOGRADER / "pages"
NBGRADER = Path(nbgrader.__file__).parent
NBGRADERS_PAGES = NBGRADER / "server_extensions" / "formgrader" / "templates"
MATHJAX = AUTOGRADER.parent / "book" / "_vendor" / "mathjax" / "tex-svg-full.js"
TAGS = nh3.ALLOWED_TAGS | {"input"}  # the boxes of task lists
EVERYWHERE = {"class", "id", "title", "lang", "dir", "align"}
ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": EVERYWHERE,
    "input": {"type", "checked", "disabled"},
}
MAX_LENGTH, MAX_SECONDS = 20_000, 5.0  # of one text, of all texts of a page
SHOWN = 200_000
MAX_DEPTH = 100
VOID = {"br", "hr", "img", "input", "wbr", "col", "area"}
SPENT = "seconds_of_markdown"
SCHEMES = {"http", "https", "mailto", "attachment", "data"}
IMAGES = ("png", "jpeg", "gif", "webp")
OUR_NAMES = ("comment", "score", "toc", "nbgrader")  # ids that nbgrader's pages use


@pass_context
def safe_markdown(context: Context, source: str) -> str:
    """Render a cell's Markdown, mathematics left to MathJax; sanitise the result.

    What a renderer could take minutes for is shown as it was written.
    """
    page = context.get("resources")
    page = page if page is not None else {}
    if len(source) > MAX_LENGTH or page.get(SPENT, 0.0) > MAX_SECONDS:
        return _as_written(source)
    started = time.monotonic()
    html = _rendered(context, source)
    page[SPENT] = page.get(SPENT, 0.0) + time.monotonic() - started
    return _unbracketed(html) if _depth(html) <= MAX_DEPTH else _as_written(source)


def _as_written(source: str) -> str:
    return f"<pre>{_unbracketed(escape(source[:SHOWN]))}</pre>"


def _depth(html: str) -> int:
    """Return how deep the elements of sanitised HTML are nested."""
    depth = most = 0
    for mark, name in re.findall(r"<(/?)(\w+)", html):
        if name not in VOID:
            depth += -1 if mark else 1
            most = max(most, depth)
    return most


def _unbracketed(html: str) -> str:
    """Return the same page without brackets: nbconvert looks for links in it slowly."""
    return html.replace("[", "&#91;")


def _rendered(context: Context, source: str) -> str:
    cell = context.get("cell") or {}
    renderer = IPythonRenderer(
        escape=False,
        attachments=cell.get("attachments", {}),
        embed_images=False,  # else a path in the text could show any file of ours
        anchor_link_text="¶",
    )
    return safe_html(MarkdownWithMath(renderer=renderer).render(source))


def safe_html(html: str) -> str:
    """Return HTML without scripts, forms, styles, frames or what else could act."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        attribute_filter=_attribute,
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return an attribute's value; None takes it away."""
    address = "".join(value.split()).lower()
    if address.startswith("data:"):
        pictures = tuple(f"data:image/{kind};base64," for kind in IMAGES)
        shown = tag == "img" and name == "src" and address.startswith(pictures)
        return value if shown else None
    if tag == "input" and name == "type":
        return "checkbox"
    if name == "id" and value.lower().startswith(OUR_NAMES):
        return None
    return value


def local_mathjax(_nothing: str) -> str:
    """Return the book's MathJax as a script's text; nothing if it was not fetched."""
    if not MATHJAX.is_file():
        return ""
    return MATHJAX.read_text(encoding="utf-8").replace("</script", r"<\/script")


def configure_pages(c: Config) -> None:
    """Have feedback pages and formgrader show sanitised Markdown and escaped names.

    Raw cells are not shown: nbconvert copies them into the page as they are.
    """
    filters: dict[str, Any] = {
        "markdown2html": safe_markdown,
        "local_mathjax": local_mathjax,
    }
    c.HTMLExporter.filters = filters
    c.HTMLExporter.raw_mimetypes = []
    c.HTMLExporter.preprocessors = [EscapeNames]
    c.HTMLExporter.extra_template_basedirs = [str(PAGES), str(NBGRADERS_PAGES)]
