"""Figures of multi-head attention: how a vector is split, and each head's weights."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from transformer.plots.style import BLUE, GREY, STYLE, WEIGHTS, Picture, new_picture

CELL = (1.0, 0.62)  # width and height of the cell of one number
D_MODEL, HEADS = 4, 2
Point = tuple[float, float]


@dataclass(frozen=True)
class Sheet:
    """The layout of a figure that shows the right and the wrong way to split heads.

    Attributes:
        size: width and height in inches.
        limits: limits of both axes, in cells.
        right: corners of the three stages of the right way.
        wrong: corners of the two stages of the wrong way.
        arrows: start and end of each arrow.
        letters: number of letters that fit into one line of a title.
    """

    size: Point
    limits: tuple[Point, Point]
    right: tuple[Point, Point, Point]
    wrong: tuple[Point, Point]
    arrows: Sequence[tuple[Point, Point]]
    letters: int


WIDE = Sheet(
    size=(7.6, 4.9),
    limits=((-0.2, 15.2), (10.0, -1.3)),
    right=((0.0, 0.0), (5.6, 0.0), (11.4, 0.0)),
    wrong=((0.0, 5.6), (11.4, 5.6)),
    arrows=[((4.1, 0.93), (5.5, 0.93)), ((10.0, 0.93), (11.3, 0.93)),
            ((4.1, 6.53), (11.3, 6.53))],
    letters=80,
)  # fmt: skip
NARROW = Sheet(
    size=(3.9, 6.6),
    limits=((-0.1, 7.9), (11.9, -1.7)),
    right=((0.0, 0.0), (0.0, 3.4), (5.0, 0.6)),
    wrong=((0.0, 7.6), (5.0, 7.6)),
    arrows=[((2.0, 2.0), (2.0, 2.75)), ((4.4, 4.3), (4.95, 4.3)),
            ((4.1, 8.5), (4.95, 8.5))],
    letters=42,
)  # fmt: skip


def splits_of(words: Sequence[str], follow: int) -> Picture:
    """Draw how one word's numbers are split into two heads, correctly and wrongly.

    Args:
        words: three words, with four numbers each.
        follow: index of the word whose numbers are coloured.

    Returns:
        The picture. The upper part shows a view to (t, h, d_k) and a transpose, and the
            lower part a direct view to (h, t, d_k).
    """
    picture = _draw_splits(words, follow, WIDE)
    picture.narrow_picture = _draw_splits(words, follow, NARROW)
    return picture


@rc_context(STYLE)
def _draw_splits(words: Sequence[str], follow: int, sheet: Sheet) -> Picture:
    names = np.array([[f"{word} {i}" for i in range(D_MODEL)] for word in words])
    t, d_k = len(words), D_MODEL // HEADS
    slices = names.reshape(t, HEADS, d_k).swapaxes(0, 1)
    chosen = set(names[follow])
    picture, axes = new_picture(*sheet.size)
    draw_blocks(axes, sheet.right[0], names[None], chosen)
    draw_blocks(axes, sheet.right[1], slices, chosen)
    draw_blocks(axes, sheet.right[2], slices, chosen, down=True)
    draw_blocks(axes, sheet.wrong[0], names[None], chosen)
    wrong = names.reshape(HEADS, t, d_k)
    draw_blocks(axes, sheet.wrong[1], wrong, chosen, down=True)
    write_captions(axes, words, sheet)
    axes.set(xlim=sheet.limits[0], ylim=sheet.limits[1])
    axes.set_axis_off()
    return picture


def draw_blocks(
    axes: Axes,
    corner: tuple[float, float],
    blocks: NDArray[np.str_],
    chosen: set[str],
    down: bool = False,
) -> None:
    """Draw tables of cells next to each other, or one below the other.

    Args:
        axes: axes to draw on.
        corner: left and top of the first table.
        blocks: names (tables, rows, columns).
        chosen: the names whose cells are coloured.
        down: whether to draw the tables one below the other.
    """
    width, height = CELL
    _, rows, columns = blocks.shape
    for (table, row, column), name in np.ndenumerate(blocks):
        left = corner[0] + width * column
        top = corner[1] + height * row
        left += 0 if down else table * (columns * width + 0.3)
        top += table * (rows * height + 0.3) if down else 0
        fill = BLUE if name in chosen else "white"
        ink = "white" if name in chosen else "black"
        axes.add_patch(Rectangle((left, top), width, height, fc=fill, ec=GREY))
        middle = (left + width / 2, top + height / 2)
        axes.text(*middle, name, ha="center", va="center", color=ink, fontsize=8)


def write_captions(axes: Axes, words: Sequence[str], sheet: Sheet) -> None:
    """Write a caption for each stage, and draw an arrow from each stage to the next."""
    titles = (
        f"Right: each head sees a slice of every word, “{words[0]}” first",
        f"Wrong: head 1 sees “{words[0]}” twice and never “{words[2]}”",
    )
    stages = (
        ("x: (t, d_model)", "view: (t, h, d_k)", "transpose: (h, t, d_k)"),
        ("x: (t, d_model)", "view: (h, t, d_k)"),
    )
    for places, title, names in zip(
        (sheet.right, sheet.wrong), titles, stages, strict=True
    ):
        left, top = places[0]
        title = textwrap.fill(title, sheet.letters)
        axes.text(left, top - 0.85, title, weight="bold")
        for (left, top), name in zip(places, names, strict=True):
            axes.text(left, top - 0.2, name, va="bottom")
        left, top = places[-1]
        for head in range(1, HEADS + 1):
            below = top + 0.93 + 2.16 * (head - 1)
            axes.text(left + 2.15, below, f"head {head}", va="center", fontsize=9)
    style = {"arrowstyle": "->", "color": GREY}
    for start, end in sheet.arrows:
        axes.annotate("", end, start, arrowprops=style)


@rc_context(STYLE)
def heads_side_by_side(
    weights: ArrayLike, words: Sequence[str], title: str, tasks: Sequence[str] = ()
) -> Picture:
    """Draw the self-attention weights of each head as a small map.

    Args:
        weights: (h, t, t).
        words: the t words.
        title: title of the figure.
        tasks: a short text for the title of each head, which names what it looks for;
            "" = no text.

    Returns:
        The picture.

    Raises:
        ValueError: if the words do not fit the weights.
    """
    values = np.asarray(weights, dtype=float)
    if values.shape[1:] != (len(words), len(words)):
        raise ValueError(
            f"expected weights of (h, {len(words)}, {len(words)}) for {len(words)} "
            f"words; found {values.shape}"
        )
    picture = Picture(figsize=(1.9 * len(values) + 0.8, 2.9), layout="constrained")
    all_axes = picture.subplots(1, len(values), squeeze=False, sharey=True)[0]
    for head, axes in enumerate(all_axes, start=1):
        low, high = WEIGHTS.low, WEIGHTS.high
        image = axes.imshow(values[head - 1], cmap=WEIGHTS.colours, vmin=low, vmax=high)
        axes.grid(False)
        task = f": {tasks[head - 1]}" if tasks and tasks[head - 1] else ""
        axes.set_title(f"head {head}{task}")
        axes.set_xticks(range(len(words)), words, rotation=90)
        axes.set_yticks(range(len(words)), words)
    picture.suptitle(title, x=0.01, ha="left", fontsize=11)
    picture.supxlabel("key", fontsize=10)
    picture.supylabel("query", fontsize=10)
    picture.colorbar(image, ax=all_axes, label=WEIGHTS.label, shrink=0.7)
    return picture
