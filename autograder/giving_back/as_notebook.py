"""Write feedback as a notebook: for a platform that keeps the name of a notebook."""

from __future__ import annotations

import re

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.giving_back.returned import Page

BODY = re.compile(r"<body>(.*)</body>", re.DOTALL)
NEEDLESS = re.compile(
    r"</?(?:body|main)[^>]*>|<a class=\"anchor-link\".*?</a>", re.DOTALL
)
EMPTY_LINES = re.compile(r"\n\s*\n")


def as_notebook(page: Page) -> str:
    """Return a notebook whose one cell is the feedback page."""
    html = page.path.read_text(encoding="utf-8")
    found = BODY.search(html)
    shown = NEEDLESS.sub("", found[1] if found else html)
    # Markdown ends a block of HTML at an empty line.
    cell = new_markdown_cell(EMPTY_LINES.sub("\n", shown), id="feedback")
    return nbformat.writes(_notebook(cell))


def _notebook(cell: NotebookNode) -> NotebookNode:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=[cell], metadata={"kernelspec": kernel})
