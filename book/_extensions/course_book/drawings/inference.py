"""Drawings of inference: keys and values in a cache, and hypotheses in a beam."""

from __future__ import annotations

from dataclasses import dataclass

from .canvas import Box, Canvas

WIDTH = 360.0
WORDS = ("<sos>", "the", "woman", "calls")

# The rows of chapter 11's table that two hypotheses need for three steps.
CHOICES = {
    "the woman": {"cries": 0.55, "calls": 0.45},
    "the woman cries": {"to": 0.40, "at": 0.35, "out": 0.25},
    "the woman calls": {"the": 0.95, "him": 0.05},
    "the woman calls the": {"man": 0.9, "boy": 0.1},
    "the woman cries to": {"the": 0.9, "him": 0.1},
}


def cache(canvas: Canvas) -> float:
    """Draw a decoder step without and with a cache; return the drawing's height."""
    canvas.text(14, 16, "Without a cache: everything again", "word", "start")
    one_step(canvas, 28, fresh=range(4))
    canvas.text(14, 206, "With a cache: only the newest word", "word", "start")
    canvas.rect(Box(35, 286, 233, 70), "frame dashed", 9)
    one_step(canvas, 218, fresh=range(3, 4))
    canvas.text(152, 375, "the cache", "small")
    for x, kind, words in ((44, "masked", "computed now"), (204, "kept", "kept")):
        with canvas.group(kind):
            canvas.rect(Box(x, 394, 26, 16), "box", 4)
        canvas.text(x + 34, 406, words, "small", "start")
    return 418


def one_step(canvas: Canvas, y: float, fresh: range) -> None:
    """Draw the step at the last word; the vectors of the words in `fresh` are new."""
    for i, word in enumerate(WORDS):
        canvas.text(72 + 80 * i, y + 12, word, "example")
    for down, letter in ((20, "q"), (72, "k"), (104, "v")):
        canvas.text(22, y + down + 17, letter, "letter")
        for i in fresh if letter == "q" else range(4):
            box = Box(44 + 80 * i, y + down, 56, 25)
            with canvas.group("masked" if i in fresh else "kept"):
                canvas.rect(box, "box", 5)
                canvas.text(box.cx, box.cy + 4, f"{letter}_{i + 1}", "small")
    newest = 72 + 80 * 3
    with canvas.group("masked"):
        for i in range(4):
            path = f"M{newest - 24 + 16 * i:g} {y + 45:g}L{72 + 80 * i:g} {y + 72:g}"
            canvas.add(f'<path class="look" style="stroke-width:1.5" d="{path}"/>')


@dataclass(frozen=True)
class Hypothesis:
    """A prefix in the beam: its words, its probability, and the box to draw it in."""

    words: str
    probability: float
    box: Box


def continued(
    parents: list[Hypothesis], x: float
) -> list[tuple[Hypothesis, Hypothesis]]:
    """Return each continuation of the parents, together with its parent."""
    found: list[tuple[Hypothesis, Hypothesis]] = []
    total = sum(len(CHOICES[parent.words]) for parent in parents)
    top = 150 - total * 24.0
    for parent in parents:
        for word, share in CHOICES[parent.words].items():
            box = Box(x, top + 48 * len(found) + 4, 74, 38)
            words = f"{parent.words} {word}"
            found.append((parent, Hypothesis(words, parent.probability * share, box)))
    return found


def beam(canvas: Canvas, width: int = 2) -> float:
    """Draw three steps of a beam search; return the drawing's height."""
    kept = [Hypothesis("the woman", 1.0, Box(4, 131, 74, 38))]
    write(canvas, kept[0], "the woman", "self")
    for x in (96.0, 188.0, 280.0):
        candidates = continued(kept, x)
        best = sorted((h for _, h in candidates), key=lambda h: -h.probability)[:width]
        for parent, child in candidates:
            stays = child in best
            start, end = (parent.box.right, parent.box.cy), (child.box.x, child.box.cy)
            turn = (start[0] + end[0]) / 2
            path = [start, (turn, start[1]), (turn, end[1]), end]
            canvas.arrow(path, "flow" if stays else "flow dashed")
            name = child.words.rpartition(" ")[2]
            write(canvas, child, name, "self" if stays else "cut")
        kept = [child for _, child in candidates if child in best]
    canvas.text(133, 24, "step 1", "small")
    canvas.text(225, 24, "step 2", "small")
    canvas.text(317, 24, "step 3", "small")
    legend(canvas, 296)
    return 316


def write(canvas: Canvas, hypothesis: Hypothesis, name: str, kind: str) -> None:
    """Draw a hypothesis: its last word and its probability."""
    box = hypothesis.box
    with canvas.group(kind):
        canvas.rect(box, "box", 6)
        canvas.text(box.cx, box.cy - 2, name, "small strong")
        canvas.text(box.cx, box.cy + 13, f"{hypothesis.probability:.3f}", "small")


def legend(canvas: Canvas, y: float) -> None:
    """Draw a legend for kept and pruned hypotheses."""
    for x, kind, words in ((44, "self", "stays in the beam"), (216, "cut", "is cut")):
        with canvas.group(kind):
            canvas.rect(Box(x, y - 12, 26, 16), "box", 4)
        canvas.text(x + 34, y, words, "small", "start")
