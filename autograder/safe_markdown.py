"""Turn Markdown into HTML in which no script of a student's runs.

nbconvert hands raw HTML in Markdown on as it is, to the feedback pages that students
open and to formgrader, where an instructor is logged in.
"""

from typing import Any

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from traitlets.config import Config

TAGS = nh3.ALLOWED_TAGS | {"input"}  # the boxes of task lists
EVERYWHERE = {"class", "id", "title", "lang", "dir", "align"}
ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": EVERYWHERE,
    "input": {"type", "checked", "disabled"},
}
SCHEMES = {"http", "https", "mailto", "attachment", "data"}
IMAGES = ("png", "jpeg", "gif", "webp")
OUR_NAMES = ("comment", "score", "toc", "nbgrader")  # ids that nbgrader's pages use


@pass_context
def safe_markdown(context: Context, source: str) -> str:
    """Render a cell's Markdown, mathematics left to MathJax; sanitise the result."""
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


def configure_pages(c: Config) -> None:
    """Have feedback pages and formgrader show sanitised Markdown.

    Raw cells are not shown: nbconvert copies them into the page as they are.
    """
    filters: dict[str, Any] = {"markdown2html": safe_markdown}
    c.HTMLExporter.filters = filters
    c.HTMLExporter.raw_mimetypes = []
