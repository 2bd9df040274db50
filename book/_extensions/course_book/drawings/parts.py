"""Parts that several drawings share: sub-layers, masks, sums."""

from __future__ import annotations

from collections.abc import Sequence

from .canvas import Box, Canvas, Part, Point

CELL = 6.0  # size of a cell in the small pictures of masks


def strip(canvas: Canvas, box: Box, kind: str) -> None:
    """Mark the left edge of an attention's box with signs that need no colour.

    Self-attention has dots, masked self-attention triangles, and cross-attention
    crosses.
    """
    x, middle = box.x + 10, box.cy
    for y in (middle - 12, middle, middle + 12):
        if kind == "self":
            canvas.circle(x, y, 3, "sign")
        elif kind == "masked":
            path = f"M{x - 3.5:g} {y - 3.5:g}v7h7z"
            canvas.add(f'<path class="sign" d="{path}"/>')
        else:
            path = f"M{x - 3:g} {y - 3:g}l6 6m0 -6l-6 6"
            canvas.add(f'<path class="sign stroke" d="{path}"/>')


def titled(
    canvas: Canvas, box: Box, part: Part, words: tuple[str, str], kind: str = "plain"
) -> None:
    """Draw a box with a title, a second line, and the number of its unit."""
    attention = kind in ("self", "masked", "cross")
    with canvas.part(part, kind):
        canvas.rect(box.grown(5), "halo", 9)
        canvas.rect(box, "box")
        if attention:
            canvas.rect(Box(box.x, box.y, 20, box.height), "edge")
            strip(canvas, box, kind)
        left = box.x + (29 if attention else 12)
        title, below = words
        baseline = box.cy + (-3 if below else 4.5)
        canvas.text(left, baseline, title, "word", "start")
        if below:
            canvas.text(left, box.cy + 13, below, "small", "start")
        canvas.text(box.right - 9, baseline, part.units[0], "unit", "end")


def thin(canvas: Canvas, box: Box, part: Part, words: str) -> None:
    """Draw a low box with centred text and the number of its unit."""
    with canvas.part(part, "plain"):
        canvas.rect(box.grown(5), "halo", 9)
        canvas.rect(box, "box")
        canvas.text(box.cx, box.cy + 4, words, "small strong")
        canvas.text(box.right - 9, box.cy + 4, part.units[0], "unit", "end")


def plus(canvas: Canvas, x: float, y: float) -> None:
    """Draw a plus sign in a circle, for the sum of two vectors."""
    canvas.circle(x, y, 9, "sum")
    canvas.add(f'<path class="flow" d="M{x - 5:g} {y:g}h10M{x:g} {y - 5:g}v10"/>')


def dropout(canvas: Canvas, x: float, y: float, number: str = "") -> None:
    """Draw a mark for dropout, which is hollow if the paper has no dropout there."""
    if canvas.plain:
        return
    with canvas.group("dropout" if number else "dropout hollow"):
        canvas.add(
            f"<title>dropout {number}</title>" if number else "<title>dropout</title>"
        )
        canvas.circle(x, y, 8.5 if number else 5.5, "drop")
        if number:
            canvas.text(x, y + 4, number, "number")


def matrix(
    canvas: Canvas, x: float, y: float, shape: tuple[int, int], causal: bool
) -> None:
    """Draw a mask centred on (x, y), with a row for each query.

    The last key is padding.
    """
    rows, columns = shape
    left, top = x - columns * CELL / 2, y - rows * CELL / 2
    for row in range(rows):
        for column in range(columns):
            shut = column == columns - 1 or (causal and column > row)
            cell = Box(left + column * CELL, top + row * CELL, CELL, CELL)
            canvas.rect(cell, "shut" if shut else "open", 0)


def wave(canvas: Canvas, x: float, y: float) -> None:
    """Draw two sine waves centred on (x, y), one twice as fast as the other."""
    slow = f"M{x - 14:g} {y - 5:g}q7 -12 14 0t14 0"
    fast = f"M{x - 14:g} {y + 8:g}q3.5 -9 7 0t7 0t7 0t7 0"
    canvas.add(f'<path class="sine" d="{slow}"/><path class="sine" d="{fast}"/>')


def chip(canvas: Canvas, box: Box, label: list[str]) -> None:
    """Draw the frame of a small picture, with a label above it."""
    canvas.rect(box.grown(4), "halo", 8)
    canvas.rect(box, "box", 5)
    for back, words in enumerate(reversed(label)):
        canvas.text(box.cx, box.y - 6 - 13 * back, words, "small")


def vector(
    canvas: Canvas, start: Point, numbers: Sequence[str], kind: str, width: float = 34
) -> Box:
    """Draw a vector from `start`, with a cell for each number; return its box."""
    x, y = start
    with canvas.group(kind):
        for i, number in enumerate(numbers):
            cell = Box(x + i * width, y, width, 22)
            canvas.rect(cell, "box step", 3)
            canvas.text(cell.cx, cell.cy + 4, number, "small strong")
    return Box(x, y, width * len(numbers), 22)


def shown(numbers: Sequence[float], digits: int) -> list[str]:
    """Return numbers as text, with a fixed number of digits and a real minus sign."""
    return [f"{number:.{digits}f}".replace("-", "−") for number in numbers]


def band(canvas: Canvas, start: Point, end: Point, breadth: float) -> None:
    """Draw a curved band from `start` down to `end`, in the colour of its group."""
    half, turn = breadth / 2, (start[1] + end[1]) / 2
    (left, y), (low_left, low) = (start[0] - half, start[1]), (end[0] - half, end[1])
    right, low_right = left + breadth, low_left + breadth
    canvas.add(
        f'<path class="band" d="M{left:g} {y:g}'
        f"C{left:g} {turn:g} {low_left:g} {turn:g} {low_left:g} {low:g}H{low_right:g}"
        f'C{low_right:g} {turn:g} {right:g} {turn:g} {right:g} {y:g}Z"/>'
    )


def tilted(canvas: Canvas, x: float, y: float, words: str) -> None:
    """Write slanted text that starts at (x, y), above a column."""
    with canvas.turned(x, y, -55):
        canvas.text(x, y, words, "small", "start")
