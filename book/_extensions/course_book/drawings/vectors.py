"""Drawings of how a token becomes a vector: a row of a table, plus a position."""

from __future__ import annotations

import math

from ..words import said
from .canvas import Canvas
from .parts import shown, vector

# The embedding table of chapter 02, and the word that is looked up.
TABLE = {
    "die": (0.1, 0.0, 0.9, 0.0),
    "frau": (0.8, 0.7, 0.1, 0.0),
    "ruft": (0.0, 0.9, 0.0, 0.4),
    "den": (0.1, 0.0, 0.8, 0.5),
    "alten": (0.0, 0.2, 0.3, 0.7),
    "mann": (0.9, 0.6, 0.0, 0.5),
}
WORD, PLACE = "mann", 2  # the word's position in chapter 03
SPEEDS = (1.0, 0.01)  # radians per position, for a model of width 4
RADIUS = 31


def lookup(canvas: Canvas) -> float:
    """Draw the product of a one-hot vector and a table; return the drawing's height."""
    canvas.text(45, 16, said("one-hot"), "word")
    canvas.text(208, 16, said("the table: a row for each word"), "word")
    for i, (word, row) in enumerate(TABLE.items()):
        y, kind = 28 + 27 * i, "self" if word == WORD else "plain"
        vector(canvas, (30, y), ["1" if word == WORD else "0"], kind, 30)
        canvas.text(130, y + 15, word, "example", "end")
        found = vector(canvas, (140, y), shown(row, 1), kind)
    canvas.arrow([(66, found.cy), (92, found.cy)])
    canvas.arrow([(208, found.bottom), (208, 218)])
    canvas.text(130, 233, said("the row"), "small", "end")
    vector(canvas, (140, 218), shown(TABLE[WORD], 1), "self")
    canvas.arrow([(208, 240), (208, 270)])
    canvas.text(218, 258, "× √4", "small strong", "start")
    canvas.text(130, 285, said("the embedding"), "small", "end")
    made = vector(canvas, (140, 270), shown(embedded(), 1), "self")
    side = 294
    path = [(made.right, made.cy), (side, made.cy), (side, found.cy)]
    canvas.arrow([*path, (found.right, found.cy)], "again")
    canvas.text(300, 218, said("gradient"), "small", "start")
    return 300


def embedded() -> list[float]:
    """Return the word's embedding: its row times the square root of the width."""
    return [number * math.sqrt(4) for number in TABLE[WORD]]


def encoded(position: int) -> list[float]:
    """Return the encoding of a position: a sine and a cosine for each speed."""
    waves = [(math.sin(position * s), math.cos(position * s)) for s in SPEEDS]
    return [number for pair in waves for number in pair]


def dials(canvas: Canvas) -> float:
    """Draw positions 0 to 2 as hands of clocks, and add one; return the height."""
    for position in range(3):
        cx = 70.0 + 110 * position
        canvas.text(cx, 16, said("position {number}").format(number=position), "word")
        numbers = encoded(position)
        for cy, speed, sine, cosine in (
            (64.0, SPEEDS[0], *numbers[:2]),
            (180.0, SPEEDS[1], *numbers[2:]),
        ):
            dial(
                canvas, (cx, cy), position * speed, position and (position - 1) * speed
            )
            for y, name, number in ((48, "sin", sine), (62, "cos", cosine)):
                words = f"{name} {shown([number], 3)[0]}"
                canvas.text(cx, cy + y, words, "small")
            if position:
                turn = f"+{math.degrees(speed):.2g}°"
                canvas.text(cx - 55, cy + 4, turn, "small strong")
    canvas.text(
        180,
        272,
        said("the input: “mann” at position {number}").format(number=PLACE),
        "word",
    )
    total = [a + b for a, b in zip(embedded(), encoded(PLACE), strict=True)]
    for y, words, numbers, kind in (
        (284, said("word"), embedded(), "self"),
        (312, said("+ position"), encoded(PLACE), "masked"),
        (340, said("= input"), total, "plain"),
    ):
        canvas.text(112, y + 15, words, "small", "end")
        vector(canvas, (120, y), shown(numbers, 3), kind, 52)
    return 368


def dial(
    canvas: Canvas, middle: tuple[float, float], angle: float, before: float
) -> None:
    """Draw a clock with a hand at `angle`, and a dashed hand at the angle `before`."""
    x, y = middle
    canvas.circle(x, y, RADIUS, "dot")
    tip = 0.86 * RADIUS
    if before != angle:
        end = (x + tip * math.sin(before), y - tip * math.cos(before))
        canvas.line([middle, end], "again")
    with canvas.group("self"):
        end = (x + tip * math.sin(angle), y - tip * math.cos(angle))
        canvas.arrow([middle, end], "hand")
