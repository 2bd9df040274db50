"""Drawings of sequences: input and target, steps in time, and the whole system."""

from __future__ import annotations

import itertools

from ..words import said
from .canvas import Box, Canvas
from .parts import tilted

READ = ("<sos>", "the", "woman", "calls", "the", "old", "man", ".")
PREDICTED = (*READ[1:], "<eos>")
SOURCE = ("die", "frau", "ruft", "den", "alten", "mann", "an", ".")
# Numbers of Multi30k, as counted in chapter 13.
PAIRS, CAPTIONS, ENTRIES = "29,000", "1,000", ("7,853", "5,893")


def token(canvas: Canvas, box: Box, word: str, kind: str) -> None:
    """Draw a token in a box."""
    with canvas.group(kind):
        canvas.rect(box, "box step", 4)
        canvas.text(box.cx, box.cy + 4, word, "small strong")


def ribbons(canvas: Canvas) -> float:
    """Draw input and target with the causal mask; return the drawing's height."""
    size, left, top = 23, 72, 64
    canvas.text(34, 16, said("reads"), "word")
    canvas.text(318, 16, said("predicts"), "word")
    canvas.text(left + 92, 16, said("may look at"), "word")
    for row, (read, predicted) in enumerate(zip(READ, PREDICTED, strict=True)):
        y = top + size * row
        token(canvas, Box(6, y, 56, size), read, "self")
        tilted(canvas, left + size * row + 12, top - 6, read)
        for column in range(len(READ)):
            cell = Box(left + size * column, y, size, size)
            canvas.rect(cell, "shut" if column > row else "open", 0)
        canvas.arrow([(left + size * len(READ), y + 11.5), (284, y + 11.5)])
        token(canvas, Box(286, y, 64, size), predicted, "cross")
    return top + size * len(READ) + 8


def waiting(canvas: Canvas) -> float:
    """Draw the steps of a recurrent layer and of self-attention; return the height."""
    size, left, top = 24, 52, 44
    canvas.text(left, 14, said("Recurrent layer"), "word", "start")
    canvas.text(248, 14, said("Self-attention"), "word", "start")
    boxes = [Box(left + size * i, top + size * i, 20, 18) for i in range(len(SOURCE))]
    for i, (box, word) in enumerate(zip(boxes, SOURCE, strict=True)):
        canvas.text(left - 8, box.cy + 4, word, "example", "end")
        token(canvas, box, str(i + 1), "masked")
        token(canvas, Box(300, box.y, 20, 18), "1", "self")
    for one, other in itertools.pairwise(boxes):
        canvas.arrow([(one.right, one.cy), (other.cx, one.cy), (other.cx, other.y)])
    for one, other in itertools.product(boxes, repeat=2):
        canvas.line([(262, one.cy), (299, other.cy + 0.01)], "thin")
    for box in boxes:
        canvas.circle(262, box.cy, 4, "dot")
    steps = said("{number} steps, one after another").format(number=len(SOURCE))
    canvas.text(left, 30, steps, "small", "start")
    canvas.text(248, 30, said("1 step for all"), "small", "start")
    low = boxes[-1].bottom + 22
    far = said("from “die” to “.”: {number} steps").format(number=len(SOURCE) - 1)
    canvas.text(left, low, far, "small strong", "start")
    canvas.text(248, low, said("1 step"), "small strong", "start")
    return low + 8


def system(canvas: Canvas) -> float:
    """Draw the capstone's system, with training on the left; return the height."""
    columns = (
        (10.0, "self", (
            (said("{number} pairs").format(number=PAIRS), said("German and English")),
            (said("Words to numbers"), " / ".join(ENTRIES)),
            ("Transformer", said("units 02 to 09")),
            (said("Loss and Adam"), said("unit 10")),
        )),
        (194.0, "cross", (
            (said("{number} captions").format(number=CAPTIONS), said("the test set")),
            (said("Words to numbers"), said("the same vocabulary")),
            (said("Beam search"), said("unit 11")),
            (said("English captions"), said("words again")),
            ("BLEU", said("against the references")),
        )),
    )  # fmt: skip
    canvas.text(84, 16, said("Training"), "word")
    canvas.text(268, 16, said("Test"), "word")
    for x, kind, steps in columns:
        for i, (title, below) in enumerate(steps):
            box = Box(x + 8, 28 + 66 * i, 140, 44)
            with canvas.group(kind):
                canvas.rect(box, "box")
                canvas.text(box.cx, box.cy - 3, title, "word")
                canvas.text(box.cx, box.cy + 13, below, "small")
            if i:
                canvas.arrow([(box.cx, box.y - 22), (box.cx, box.y)])
    model, loss = 182.0, 248.0
    canvas.arrow([(18, loss), (6, loss), (6, model), (18, model)], "again")
    canvas.arrow([(158, model), (202, model)], "memory")
    canvas.text(180, model - 8, said("weights"), "small")
    return 28 + 66 * 4 + 52
