"""Convert a child's report on its cells to outputs that are safe to display.

The report is not trusted, so this module checks its form, limits lengths and cleans
HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.sandbox.error_words import clean
from autograder.sandbox.safe_html import safe_html

if TYPE_CHECKING:
    from autograder.sandbox.transport import CellRun

MAX_TEXT = 64_000
CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
TEXT_KINDS = ("text/plain", "text/markdown", "text/latex")


def safe_text(text: Any) -> str:
    """Return text of limited length without control characters."""
    return CONTROL.sub("", str(text)[:MAX_TEXT])


def safe_outputs(run: CellRun) -> list[NotebookNode]:
    """Return the outputs of one cell as outputs of a notebook."""
    made = [output for item in run.outputs for output in _output(item)]
    if run.stopped:
        made.append(_error("Stopped", run.stopped))
    elif run.error is not None:
        kind = clean(run.error.get("type"), 100)
        message = clean(run.error.get("message"))
        code, line = clean(run.error.get("code"), 120), run.error.get("line")
        place = f" (line {line}: {code})" if code and type(line) is int else ""
        made.append(_error(kind, message + place))
    return made


def _error(kind: str, words: str) -> NotebookNode:
    return new_output("error", ename=kind, evalue=words, traceback=[f"{kind}: {words}"])


def _output(item: dict[str, Any]) -> Sequence[NotebookNode]:
    kind, data = item.get("output_type"), item.get("data")
    if kind == "stream" and item.get("name") in ("stdout", "stderr"):
        text = safe_text(item.get("text", ""))
        return [new_output("stream", name=item["name"], text=text)]
    if kind == "display_data" and isinstance(data, dict):
        shown = {k: safe_text(data[k]) for k in TEXT_KINDS if k in data}
        if "text/html" in data:
            shown["text/html"] = safe_html(safe_text(data["text/html"]))
        return [new_output("display_data", data=shown)] if shown else []
    return []
