"""Take code out of the fences of Markdown, with words around them or not."""

import re
from textwrap import dedent

from autograder.notebook_syntax import parse_cell

FENCE = re.compile(r"[ \t]*(```+|~~~+)")


def unfenced(text: str) -> str:
    """Return what stands in a text's fences, or else the text without them.

    Also code that Markdown marks by four blanks. What is no code at all stays as it is.
    """
    lines = text.split("\n")
    without = [line for line in lines if not FENCE.match(line)]
    plain = "\n".join(without)
    inside = _inside(lines)
    candidates = [inside] * bool(inside) + [plain, dedent(plain)]
    return next((one for one in candidates if parse_cell(one) is not None), plain)


def _inside(lines: list[str]) -> str:
    """Return the lines between an opening fence and the one that closes it."""
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
