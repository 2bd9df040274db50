"""Panels next to the two stacks: the inside of a layer, and the other units."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

from .canvas import Box, Canvas, Part
from .parts import dropout, thin

WIDTH = 352  # width of the panels

HEADS = Part(("05",), "Inside each attention: several heads")
SCALED = Part(("04",), "Scaled dot-product attention")
INNER = Part(("06",), "Inside each feed-forward layer")
RECURRENT = Part(("01",), "Before: recurrent networks with attention")
WHY = Part(("12",), "Why self-attention? And what it costs")
REAL = Part(("13",), "The whole system on real sentences: Multi30k")


@contextlib.contextmanager
def panel(canvas: Canvas, box: Box, part: Part, title: str) -> Iterator[None]:
    """Draw a panel with a title; what the block draws becomes part of its link."""
    with canvas.part(part, "plain"):
        canvas.rect(box.grown(4), "halo", 16)
        canvas.rect(box, "frame", 13)
        canvas.text(box.x + 14, box.y + 21, title, "word", "start")
        canvas.text(box.right - 12, box.y + 21, part.units[0], "unit", "end")
        yield


def step(canvas: Canvas, box: Box, words: str) -> None:
    """Draw a low box with a few words, for a step inside a panel."""
    canvas.rect(box, "box step", 5)
    canvas.text(box.cx, box.cy + 4, words, "small")


def inside_attention(canvas: Canvas, x: float, y: float) -> float:
    """Draw multi-head attention with its upper left at (x, y); return its lower end."""
    box = Box(x, y, WIDTH, 258)
    centres = {"q": x + 66, "k": x + 146, "v": x + 298}
    sheet = Box(x + 22, y + 112, WIDTH - 56, 72)
    with panel(canvas, box, HEADS, "Inside each attention"):
        for cx in centres.values():
            step(canvas, Box(cx - 32, y + 54, 64, 25), "Linear")
        step(canvas, Box(sheet.cx - 92, y + 208, 184, 25), "join the heads, Linear")
        canvas.text(x + 222, y + 93, "h heads at once", "small")
    for letter, cx in centres.items():
        canvas.arrow([(cx, y + 34), (cx, y + 54)])
        canvas.text(cx + 10, y + 46, letter, "letter")
    steps = one_head(canvas, sheet)
    first, last = steps[0], steps[-1]
    for letter, tip in (("q", first.x + 13), ("k", first.right - 13), ("v", last.cx)):
        cx, turn = centres[letter], y + 88 if letter == "q" else y + 93
        path = [(cx, y + 79), (cx, turn), (tip, turn), (tip, first.y)]
        canvas.arrow(path)
    turn = y + 196
    canvas.arrow(
        [(last.cx, last.bottom), (last.cx, turn), (sheet.cx, turn), (sheet.cx, y + 208)]
    )
    canvas.arrow([(sheet.cx, y + 233), (sheet.cx, y + 252)])
    return box.bottom


def one_head(canvas: Canvas, sheet: Box) -> list[Box]:
    """Draw the heads as sheets behind each other; return the first one's steps."""
    with canvas.part(SCALED, "plain"):
        canvas.rect(sheet.grown(6), "halo", 11)
        for back in (10, 5, 0):
            shifted = Box(sheet.x + back, sheet.y - back, sheet.width, sheet.height)
            canvas.rect(shifted, "box", 7)
        title = "Scaled dot-product attention"
        canvas.text(sheet.x + 12, sheet.bottom - 11, title, "word", "start")
        canvas.text(sheet.x + 208, sheet.bottom - 11, "04", "unit", "start")
        steps = in_a_row(
            canvas,
            (sheet.x + 10, sheet.y + 14),
            {"q · k": 46, "÷ √d_k": 50, "mask": 44, "softmax": 62, "· v": 34},
        )
    softmax = steps[3]
    dropout(canvas, softmax.right - 2, softmax.y)
    return steps


def in_a_row(
    canvas: Canvas, start: tuple[float, float], steps: dict[str, float]
) -> list[Box]:
    """Draw connected steps with these widths from left to right; return their boxes."""
    x, y = start
    boxes: list[Box] = []
    for words, width in steps.items():
        box = Box(x, y, width, 27)
        step(canvas, box, words)
        if boxes:
            canvas.arrow([(boxes[-1].right, box.cy), (box.x, box.cy)])
        boxes.append(box)
        x = box.right + 10
    return boxes


def inside_feed_forward(canvas: Canvas, x: float, y: float) -> float:
    """Draw the two matrices of the feed-forward layer; return the panel's lower end."""
    box = Box(x, y, WIDTH, 78)
    widths = {"Linear, wider": 106, "ReLU": 56, "Linear, back": 106}
    with panel(canvas, box, INNER, "Inside each feed-forward layer"):
        steps = in_a_row(canvas, (x + 32, y + 36), widths)
    first, last = steps[0], steps[-1]
    canvas.arrow([(x + 12, first.cy), (first.x, first.cy)])
    canvas.arrow([(last.right, last.cy), (x + WIDTH - 12, last.cy)])
    dropout(canvas, steps[1].right - 2, steps[1].y)
    return box.bottom


def dropout_legend(canvas: Canvas, x: float, y: float) -> None:
    """Draw a legend for the dropout marks; the page shows and hides both together."""
    if canvas.plain:
        return
    with canvas.group("dropout"):
        canvas.circle(x + 10, y, 8.5, "drop")
        canvas.text(x + 10, y + 4, "1", "number")
        words = "dropout: seven places in the paper"
        canvas.text(x + 26, y + 4, words, "small", "start")
    with canvas.group("dropout hollow"):
        canvas.circle(x + 10, y + 21, 5.5, "drop")
        words = "two kinds more in nearly every program"
        canvas.text(x + 26, y + 25, words, "small", "start")


def card(canvas: Canvas, box: Box, part: Part, words: tuple[str, str]) -> None:
    """Draw a box for a unit, with a small picture on its left."""
    with canvas.part(part, "plain card"):
        canvas.rect(box.grown(5), "halo", 9)
        canvas.rect(box, "box")
        left = box.x + 92
        canvas.text(left, box.cy - 3, words[0], "word", "start")
        canvas.text(left, box.cy + 13, words[1], "small", "start")
        canvas.text(box.right - 9, box.cy - 3, part.units[0], "unit", "end")
        picture(canvas, box, part)


def picture(canvas: Canvas, box: Box, part: Part) -> None:
    """Draw four words: as a chain, all connected to all, or without connections."""
    xs = [box.x + 16 + 20 * i for i in range(4)]
    if part is RECURRENT:
        for left, right in itertools.pairwise(xs):
            canvas.arrow([(left + 5, box.cy), (right - 5, box.cy)], "thin")
        for x in xs:
            canvas.circle(x, box.cy, 5, "dot")
        return
    for left in xs if part is WHY else ():
        for right in xs:
            canvas.line([(left, box.cy - 10), (right, box.cy + 10.01)], "thin")
    rows = (box.cy - 10, box.cy + 10) if part is WHY else ()
    for x in xs:
        for y in rows:
            canvas.circle(x, y, 4, "dot")


def before(canvas: Canvas, box: Box) -> None:
    """Draw the box of the unit on recurrent networks."""
    card(
        canvas,
        box,
        RECURRENT,
        ("Before: recurrent networks", "one word after the other"),
    )


def why(canvas: Canvas, box: Box) -> None:
    """Draw the box of the unit on why the paper uses only attention."""
    card(canvas, box, WHY, ("Why self-attention?", "all words at once, and its cost"))


def real(canvas: Canvas, box: Box, words: str) -> None:
    """Draw the box of the unit that trains the whole system on real sentences."""
    thin(canvas, box, REAL, words)
