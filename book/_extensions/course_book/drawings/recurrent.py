"""Drawings of the recurrent models: two translators and a classifier."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from .canvas import Box, Canvas, Point

WIDTH = 360.0
SOURCE = ("den", "alten", "mann")
GIVEN = ("<sos>", "the", "old", "man")
WRITTEN = ("the", "old", "man", "<eos>")
WEIGHTS = (0.12, 0.22, 0.66)  # example weights, which set the widths of lines


def cell(canvas: Canvas, box: Box, words: str, kind: str = "plain") -> None:
    """Draw a box with a name, for one step of a network or for a vector."""
    with canvas.group(kind):
        canvas.rect(box, "box", 7)
        canvas.text(box.cx, box.cy + 4, words, "strong small")


def chain(canvas: Canvas, start: Point, names: Sequence[str]) -> list[Box]:
    """Draw a network's steps from left to right, with an arrow from state to state."""
    x, y = start
    boxes = [Box(x + 80 * i, y, 56, 36) for i in range(len(names))]
    for box, name in zip(boxes, names, strict=True):
        cell(canvas, box, name)
    for left, right in itertools.pairwise(boxes):
        canvas.arrow([(left.right, left.cy), (right.x, right.cy)])
    return boxes


def words_above(
    canvas: Canvas, boxes: Sequence[Box], words: Sequence[str], shift: float = 0
) -> None:
    """Write a word above each box, with an arrow down to the box."""
    for box, word in zip(boxes, words, strict=True):
        x = box.cx + shift
        canvas.text(x, box.y - 20, word, "example")
        canvas.arrow([(x, box.y - 14), (x, box.y)])


def words_below(canvas: Canvas, boxes: Sequence[Box], words: Sequence[str]) -> None:
    """Write the output word of each box below it."""
    for box, word in zip(boxes, words, strict=True):
        canvas.arrow([(box.cx, box.bottom), (box.cx, box.bottom + 15)])
        canvas.text(box.cx, box.bottom + 30, word, "example")


def seq2seq(canvas: Canvas) -> float:
    """Draw Seq2Seq, whose decoder receives one vector; return the drawing's height."""
    canvas.text(16, 14, "Encoder: reads, and keeps one state", "word", "start")
    reads = chain(canvas, (16, 58), ("h_1", "h_2", "h_3"))
    words_above(canvas, reads, SOURCE)
    vector = Box(262, 58, 84, 36)
    canvas.arrow([(reads[-1].right, vector.cy), (vector.x, vector.cy)])
    cell(canvas, vector, "one vector", "cross")
    canvas.text(44, 146, "Decoder: writes from it", "word", "start")
    writes = chain(canvas, (44, 190), ("g_1", "g_2", "g_3", "g_4"))
    words_above(canvas, writes, GIVEN)
    words_below(canvas, writes, WRITTEN)
    first = writes[0]
    path = [(vector.cx, vector.bottom), (vector.cx, 118), (20, 118), (20, first.cy)]
    canvas.arrow([*path, (first.x, first.cy)], "memory")
    return 266


def looks(
    canvas: Canvas, boxes: Sequence[Box], aim: Box, weights: Sequence[float]
) -> None:
    """Draw lines from the boxes to `aim`, with widths that grow with the weights."""
    for i, (box, weight) in enumerate(zip(boxes, weights, strict=True)):
        x = aim.x + aim.width * (i + 1) / (len(boxes) + 1)
        breadth = 1.2 + 6 * weight
        canvas.add(
            f'<path class="look" style="stroke-width:{breadth:.1f}" '
            f'd="M{box.cx:g} {box.bottom:g}L{x:g} {aim.y:g}"/>'
        )


def seq2seq_with_attention(canvas: Canvas) -> float:
    """Draw Seq2Seq with attention to all states; return the drawing's height."""
    canvas.text(44, 14, "Encoder: keeps every state", "word", "start")
    reads = chain(canvas, (44, 58), ("h_1", "h_2", "h_3"))
    words_above(canvas, reads, SOURCE)
    context = Box(92, 150, 120, 34)
    looks(canvas, reads, context, WEIGHTS)
    canvas.text(228, 128, "weights,", "small", "start")
    canvas.text(228, 142, "one for each state", "small", "start")
    canvas.text(44, 236, "Decoder", "word", "start")
    writes = chain(canvas, (16, 284), ("g_1", "g_2", "g_3", "g_4"))
    with canvas.group("cross"):
        canvas.rect(writes[2], "box", 7)
        canvas.text(writes[2].cx, writes[2].cy + 4, "g_3", "strong small")
    words_above(canvas, writes, GIVEN, -10)
    words_below(canvas, writes, WRITTEN)
    cell(canvas, context, "context c_3", "cross")
    asks = (writes[1].right + 12, writes[1].cy)
    canvas.arrow([asks, (asks[0], context.bottom)], "again")
    canvas.text(asks[0] - 7, 216, "g_2", "letter", "end")
    canvas.text(asks[0] - 25, 216, "asks with", "small", "end")
    into = writes[2].cx + 14
    path = [(context.right, context.cy), (into, context.cy), (into, writes[2].y)]
    canvas.arrow(path, "memory")
    side, below = writes[2].right + 12, writes[2].bottom + 7
    path = [(into, context.cy), (side, context.cy), (side, below)]
    canvas.arrow([*path, (writes[2].cx + 1, below)], "memory")
    return 358


def bilstm(canvas: Canvas) -> float:
    """Draw the classifier that attends to its own states; return the height."""
    tokens = (*SOURCE, ".")
    frames = [Box(32 + 80 * i, 40, 60, 98) for i in range(4)]
    words_above(canvas, frames, tokens)
    for frame in frames:
        canvas.rect(frame, "frame", 10)
    forward = [Box(f.x + 4, f.y + 5, f.width - 8, 38) for f in frames]
    backward = [Box(f.x + 4, f.bottom - 43, f.width - 8, 38) for f in frames]
    for boxes, arrow in ((forward, "→"), (backward, "←")):
        for box in boxes:
            cell(canvas, box, f"LSTM {arrow}")
    for left, right in itertools.pairwise(forward):
        canvas.arrow([(left.right, left.cy), (right.x, right.cy)])
    for left, right in itertools.pairwise(backward):
        canvas.arrow([(right.x, right.cy), (left.right, left.cy)])
    states = [Box(f.x + 8, 160, 44, 28) for f in frames]
    for number, (frame, state) in enumerate(zip(frames, states, strict=True), 1):
        canvas.arrow([(frame.cx, frame.bottom), (frame.cx, state.y)])
        cell(canvas, state, f"h_{number}", "self")
    class_of(canvas, states, backward[0], forward[-1])
    return 312


def class_of(canvas: Canvas, states: list[Box], first: Box, last: Box) -> None:
    """Draw how the two final states, in `first` and `last`, become the query."""
    context = Box(140, 236, 84, 32)
    with canvas.group("self"):
        looks(canvas, states, context, (0.1, 0.2, 0.6, 0.1))
    cell(canvas, context, "context", "self")
    query = Box(28, 236, 76, 32)
    cell(canvas, query, "query")
    canvas.arrow([(query.right, query.cy), (context.x, query.cy)], "again")
    canvas.arrow(
        [(first.x, first.cy), (14, first.cy), (14, query.cy), (query.x, query.cy)]
    )
    low = query.bottom + 22
    path = [(last.right, last.cy), (348, last.cy), (348, low), (query.cx, low)]
    canvas.arrow([*path, (query.cx, query.bottom)])
    canvas.text(
        query.cx + 12, low + 16, "the two final states, joined", "small", "start"
    )
    linear = Box(246, 236, 52, 32)
    cell(canvas, linear, "Linear")
    canvas.arrow([(context.right, context.cy), (linear.x, context.cy)], "flow")
    canvas.arrow([(linear.right, linear.cy), (linear.right + 13, linear.cy)])
    canvas.text(328, linear.cy + 4, "class", "example")
