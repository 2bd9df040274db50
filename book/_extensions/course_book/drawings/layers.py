"""Drawings of layers, with the residual stream as a thick line."""

from __future__ import annotations

from collections.abc import Sequence

from ..words import said
from .attention import attended
from .canvas import Box, Canvas
from .parts import plus, shown, vector

# The worked example of chapter 06: the token "ruft", and the two matrices.
TOKEN = (2.0, 1.0, 0.0, 1.0)
W1 = (
    (1.0, 0.0, 0.0, 1.0, 0.0),
    (0.0, 1.0, 0.0, 1.0, -2.0),
    (0.0, 0.0, 1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, -4.0, 1.0),
)
W2 = (
    (0.0, 1.0, 0.0, 0.0),
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0),
    (5.0, 5.0, 5.0, 5.0),
    (5.0, 5.0, 5.0, 5.0),
)
# The three tokens of chapter 08; the drawing follows the first.
TOKENS = ((2.0, 0.0, 0.0, 0.0), (0.0, 2.0, 0.0, 0.0), (2.0, 0.0, 0.0, 2.0))
STREAM = 80.0  # x of the thick line


def times(row: Sequence[float], matrix: Sequence[Sequence[float]]) -> list[float]:
    """Return the product of a row vector and a matrix."""
    return [
        sum(a * b for a, b in zip(row, column, strict=True))
        for column in zip(*matrix, strict=True)
    ]


def normalised(row: Sequence[float]) -> list[float]:
    """Return a row with mean 0 and standard deviation 1."""
    mean = sum(row) / len(row)
    variance = sum((number - mean) ** 2 for number in row) / len(row)
    return [(number - mean) / variance**0.5 for number in row]


def positive(row: Sequence[float]) -> list[float]:
    """Return the ReLU of a row."""
    return [max(0.0, number) for number in row]


def added(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the sum of two rows."""
    return [a + b for a, b in zip(one, other, strict=True)]


def token(canvas: Canvas) -> float:
    """Draw how a feed-forward layer changes one token; return the drawing's height."""
    asked = times(TOKEN, W1)
    made = times(positive(asked), W2)
    total = added(TOKEN, made)
    cx, side = 180.0, 40.0
    rows = (
        (24, TOKEN, "self", ""),
        (78, asked, "plain", said("linear: from 4 numbers to 5")),
        (132, positive(asked), "plain", said("ReLU: negative becomes 0")),
        (186, made, "cross", said("linear: from 5 back to 4")),
        (262, total, "plain", said("sum: token and change")),
        (316, normalised(total), "self", said("LayerNorm: mean 0, deviation 1")),
    )
    canvas.text(cx, 15, said("the token “ruft”"), "word")
    canvas.line([(cx - 68, 35), (side, 35), (side, 236), (cx - 9, 236)], "stream")
    canvas.text(side + 12, 128, said("residual"), "small", "start")
    for y, numbers, kind, words in rows:
        if words:
            canvas.arrow([(cx, y - 32), (cx, y)])
            canvas.text(cx + 14, y - 12, words, "small", "start")
        left = cx - 17 * len(numbers)
        vector(canvas, (left, y), shown(numbers, 0), kind)
    canvas.line([(cx, 208), (cx, 240)])
    plus(canvas, cx, 236)
    return 346


def sub_layer(
    canvas: Canvas, y: float, kind: str, words: tuple[str, str], change: Sequence[str]
) -> float:
    """Draw a sub-layer that reads the stream at y and adds to it; return its end."""
    box = Box(190, y + 18, 162, 44)
    canvas.arrow([(STREAM, y), (box.cx, y), (box.cx, box.y)])
    with canvas.group(kind):
        canvas.rect(box, "box")
        canvas.text(box.cx, box.cy - 3, words[0], "word")
        canvas.text(box.cx, box.cy + 13, words[1], "small")
    low = box.bottom
    if change:
        canvas.line([(box.cx, low), (box.cx, low + 12)])
        low = vector(canvas, (box.cx - 72, low + 12), change, kind, 36).bottom
    end = low + 16
    canvas.arrow([(box.cx, low), (box.cx, end), (STREAM + 9, end)])
    plus(canvas, STREAM, end)
    norm = Box(STREAM - 50, end + 20, 100, 24)
    canvas.rect(norm, "box", 5)
    canvas.text(norm.cx, norm.cy + 4, "LayerNorm", "small strong")
    return norm.bottom


def encoder_layer(canvas: Canvas) -> float:
    """Draw an encoder layer with one token's numbers; return the drawing's height."""
    first = TOKENS[0]
    _, looked_up = attended(first, TOKENS, TOKENS)
    middle = normalised(added(first, looked_up))
    out = normalised(added(middle, positive(middle)))
    canvas.text(STREAM, 14, said("one token goes in"), "word")
    canvas.line([(STREAM, 44), (STREAM, 454)], "stream")
    vector(canvas, (STREAM - 72, 22), shown(first, 2), "self", 36)
    words = (said("Self-attention"), said("asks every token"))
    end = sub_layer(canvas, 62, "self", words, shown(looked_up, 2))
    vector(canvas, (STREAM - 72, end + 14), shown(middle, 2), "self", 36)
    words = (said("Feed-forward layer"), said("this token only"))
    end = sub_layer(canvas, end + 54, "cross", words, shown(positive(middle), 2))
    vector(canvas, (STREAM - 72, end + 14), shown(out, 2), "self", 36)
    canvas.text(STREAM, end + 52, said("the same token, with context"), "small")
    return end + 60


def decoder_layer(canvas: Canvas) -> float:
    """Draw a decoder layer with the memory as an input; return the drawing's height."""
    canvas.text(STREAM, 16, said("the position of “woman”"), "word")
    canvas.line([(STREAM, 24), (STREAM, 490)], "stream")
    end = 24.0
    # For each attention: its input from the stream, its other input, and the arrow.
    sources = {
        "masked": (said("query, key, value"), said("earlier: <sos>, the"), "flow"),
        "cross": (said("query"), said("memory: ruft … an"), "memory"),
    }
    for kind, name, asks in (
        ("masked", said("Masked self-attention"), said("what is written?")),
        ("cross", said("Cross-attention"), said("what does the source say?")),
        ("plain", said("Feed-forward layer"), said("this position only")),
    ):
        if kind in sources:
            sent, words, arrow = sources[kind]
            box = Box(206, end + 6, 146, 24)
            with canvas.group(kind):
                canvas.rect(box, "box", 5)
                canvas.text(box.cx, box.cy + 4, words, "small strong")
            canvas.arrow([(286, box.bottom), (286, box.bottom + 36)], arrow)
            canvas.text(292, box.bottom + 20, said("keys, values"), "small", "start")
            canvas.text(STREAM + 12, end + 43, sent, "small", "start")
        below = 48 if kind in sources else 18
        end = sub_layer(canvas, end + below, kind, (name, asks), [])
    canvas.arrow([(STREAM, end), (STREAM, end + 20)])
    canvas.text(STREAM, end + 34, said("more layers, projection"), "small")
    canvas.arrow([(STREAM, end + 41), (STREAM, end + 61)])
    canvas.text(STREAM, end + 77, said("predicts “calls”"), "word")
    return end + 85
