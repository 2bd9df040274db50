"""Drawings of attention: one query, several heads, and masks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..words import said
from .canvas import Box, Canvas
from .parts import band, shown, tilted, vector

# The worked example of chapter 04: the query of "mann", and the keys and values.
WORDS = ("den", "alten", "mann")
COLOURS = ("masked", "cross", "self")  # one colour for each word
QUERY = (2.0, 0.0, 2.0, 0.0)
KEYS = ((0.0, 2.0, 0.0, 1.0), (2.0, 0.0, 0.0, 0.0), (1.0, 0.0, 2.0, 0.0))
VALUES = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0))

# The worked example of chapter 05: the query of "ruft".
OF_HEADS = ("die", "frau", "ruft")
HEADS_QUERY = (0.0, 3.0, 0.0, 3.0)
HEADS_KEYS = ((0.0, 0.0, 0.0, 2.0), (0.0, 2.0, 0.0, 0.0), (1.0, 0.0, 1.0, 0.0))
HEADS_VALUES = ((1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0))

MASKED = ("<sos>", "the", "woman", "calls", "<pad>")

Vector = Sequence[float]


def attended(
    query: Vector, keys: Sequence[Vector], values: Sequence[Vector]
) -> tuple[list[float], list[float]]:
    """Return the attention weights and the output of one query (Eq. 1 of the paper)."""
    root = math.sqrt(len(query))
    powers = [math.exp(dot(query, key) / root) for key in keys]
    weights = [power / sum(powers) for power in powers]
    return weights, [dot(weights, column) for column in zip(*values, strict=True)]


def dot(one: Vector, other: Vector) -> float:
    """Return the dot product of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def steps() -> list[str]:
    """Return the names of the four steps that `attention` draws."""
    return [
        said("1 Query and keys"),
        said("2 Scores"),
        said("3 Weights"),
        said("4 Average of the values"),
    ]


def attention(canvas: Canvas) -> float:
    """Draw attention for one query in four steps; return the drawing's height."""
    names = steps()
    weights, output = attended(QUERY, KEYS, VALUES)
    columns = (64.0, 180.0, 296.0)
    with canvas.group("step-1"):
        canvas.text(12, 14, names[0], "word", "start")
        canvas.text(124, 39, "mann", "example", "end")
        vector(canvas, (132, 24), shown(QUERY, 0), "self", 24)
        canvas.text(12, 72, said("keys"), "small", "start")
        for cx, word, key in zip(columns, WORDS, KEYS, strict=True):
            vector(canvas, (cx - 48, 80), shown(key, 0), "plain", 24)
            canvas.text(cx, 117, word, "example")
    with canvas.group("step-2"):
        canvas.text(12, 138, names[1], "word", "start")
        for cx, key in zip(columns, KEYS, strict=True):
            canvas.arrow([(180 + (cx - 180) / 3, 47), (cx, 79)])
            product = dot(QUERY, key)
            canvas.text(cx, 157, f"{product:g} / √4 = {product / 2:g}", "small strong")
    with canvas.group("step-3"):
        canvas.text(12, 180, names[2], "word", "start")
        for cx, weight, kind in zip(columns, weights, COLOURS, strict=True):
            bar = Box(cx - 28, 244 - 60 * weight, 56, 60 * weight)
            with canvas.group(kind):
                canvas.rect(bar, "edge", 0)
            canvas.text(cx, bar.y - 6, f"{weight:.0%}", "small strong")
        canvas.line([(12, 244), (348, 244)], "thin")
    with canvas.group("step-4"):
        canvas.text(12, 268, names[3], "word", "start")
        end = 180 - 30.0
        for cx, value, weight, kind in zip(
            columns, VALUES, weights, COLOURS, strict=True
        ):
            vector(canvas, (cx - 48, 278), shown(value, 0), kind, 24)
            end += 30 * weight
            with canvas.group(kind):
                band(canvas, (cx, 301), (end, 347), 60 * weight)
            end += 30 * weight
        canvas.line([(97, 356), (97, 348), (263, 348), (263, 356)])
        vector(canvas, (96, 358), shown(output, 3), "self", 42)
        canvas.text(180, 396, said("the output for “mann”"), "small")
    return 404


def heads(canvas: Canvas) -> float:
    """Draw the average of one head, then of two heads; return the drawing's height."""
    canvas.text(12, 14, said("One head: one average of whole vectors"), "word", "start")
    die, frau, ruft = HEADS_VALUES
    blocks = (
        (60.0, HEADS_VALUES, said("the values")),
        (210.0, (frau, die, ruft), said("two values swapped")),
    )
    for x, values, name in blocks:
        canvas.text(x + 40, 34, name, "small")
        one = half(canvas, (x, 42), range(4), values, 20)
        canvas.arrow([(x + 40, 119), (x + 40, 136)])
        vector(canvas, (x - 22, 136), shown(one, 2), "plain", 31)
    canvas.text(180, 176, said("the output is the same"), "small")
    canvas.text(12, 212, said("Two heads: each averages its own half"), "word", "start")
    for i, x in enumerate((60.0, 216.0)):
        canvas.text(x + 34, 232, said("head {number}").format(number=i + 1), "small")
        found = half(canvas, (x, 240), range(2 * i, 2 * i + 2))
        cx = 112 + 68 * i
        path = [(x + 34, 317), (x + 34, 329), (cx + 34, 329), (cx + 34, 346)]
        canvas.arrow(path)
        vector(canvas, (cx, 346), shown(found, 2), ("self", "masked")[i])
    canvas.text(180, 386, said("left half from “frau”, right half from “die”"), "small")
    return 394


def half(
    canvas: Canvas,
    start: tuple[float, float],
    columns: range,
    values: Sequence[Vector] = HEADS_VALUES,
    width: float = 34,
) -> list[float]:
    """Draw some columns of the values with their weights; return their average."""
    cut = slice(columns.start, columns.stop)
    x, y = start
    weights, output = attended(
        HEADS_QUERY[cut],
        [key[cut] for key in HEADS_KEYS],
        [value[cut] for value in values],
    )
    kinds = ("masked", "self", "plain")
    rows = zip(OF_HEADS, values, weights, kinds, strict=True)
    for i, (word, value, weight, kind) in enumerate(rows):
        top = y + 26 * i
        if values is HEADS_VALUES and not columns.start:
            canvas.text(x - 8, top + 15, word, "example", "end")
        row = vector(canvas, (x, top), shown(value[cut], 0), kind, width)
        bar = Box(row.right + 8, top + 4, width / 2 * len(columns) * weight, 14)
        with canvas.group(kind):
            canvas.rect(bar, "edge", 0)
        canvas.text(bar.right + 4, top + 15, f"{weight:.0%}", "small", "start")
    return output


def masks(canvas: Canvas) -> float:
    """Draw the padding mask, the causal mask and both; return the drawing's height."""
    names = (said("padding"), said("the future"), said("both"))
    size, top, last = 18, 78, len(MASKED) - 1
    for i, word in enumerate(MASKED):
        canvas.text(46, top + size * i + 13, word, "small", "end")
    for left, name in zip((52, 150, 248), names, strict=True):
        canvas.text(left + 45, 14, name, "word")
        for column, word in enumerate(MASKED):
            tilted(canvas, left + size * column + 11, top - 5, word)
            for row in range(len(MASKED)):
                shut = (column == last and name != names[1]) or (
                    column > row and name != names[0]
                )
                x, y = left + size * column, top + size * row
                canvas.rect(Box(x, y, size, size), "shut" if shut else "open", 0)
                if column == row + 1 < last:
                    canvas.circle(x + 9, y + 9, 4, "drop")
    notes = (said("may attend"), said("hidden"), said("the answer"))
    for x, kind, words in zip((12, 120, 208), ("open", "shut", ""), notes, strict=True):
        if kind:
            canvas.rect(Box(x, 184, 16, 16), kind, 0)
        else:
            canvas.circle(x + 8, 192, 4, "drop")
        canvas.text(x + 22, 196, words, "small", "start")
    return 206
