"""Extract code from Markdown fences, which may have text around them."""

import re
from textwrap import dedent

from autograder.notebook_syntax import parse_cell

FENCE = re.compile(r"[ \t]*(```+|~~~+)")


def unfenced(text: str) -> str:
    """Return the code in a text's fences, or else the text without fence marks.

    Code that is indented by four spaces also counts. Text without code is unchanged.
    """
    lines = text.split("\n")
    without = [line for line in lines if not FENCE.match(line)]
    plain = "\n".join(without)
    inside = _inside(lines)
    candidates = [inside] * bool(inside) + [plain, dedent(plain)]
    return next((one for one in candidates if parse_cell(one) is not None), plain)


def _inside(lines: list[str]) -> str:
    """Return the lines between an opening fence and its closing fence."""
    kept: list[str] = []
    fence = ""
    for line in lines:
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif fence and line.strip().startswith(fence):
            fence = ""
        elif fence:
            kept.append(line)
    return "\n".join(kept)
