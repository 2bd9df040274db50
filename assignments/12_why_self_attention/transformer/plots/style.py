"""The style of all figures: colours, lines, heat maps, and how they are displayed.

A figure is drawn on white. The book's dark theme inverts it, so larger values are
darker in the light theme and lighter in the dark theme.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from cycler import cycler
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike

from transformer.plots.narrow import narrowed, packed

if TYPE_CHECKING:  # old versions of matplotlib lack it
    from matplotlib.typing import RcKeyType

# Okabe and Ito's colours. The orange is darker, because theirs is too pale on white.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C97B00", "#009E73", "#CC79A7"
RED, SKY, BLACK, GREY = "#D55E00", "#56B4E9", "#000000", "#777777"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, BLACK)
DASHES = ("-", "--", "-.", ":", "-", "--", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE: dict[RcKeyType, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=PALETTE, linestyle=DASHES),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "figure.facecolor": "white",
    "font.size": 10,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.facecolor": "white",
    "svg.hashsalt": "transformer",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


class Picture(Figure):
    """A figure that a notebook shows as SVG when it is the last value of a cell.

    Attributes:
        narrow_picture: the picture for phones; None = make a narrow layout of this
            figure.
    """

    narrow_picture: Picture | None = None

    def _repr_svg_(self) -> str:
        wide, narrow = as_svg(self), narrowed(self)
        if narrow is None:
            return wide
        body, end, after = wide.rpartition("</svg>")
        return body + packed(as_svg(narrow)) + end + after


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG without a date, so that equal figures give equal files."""
    buffer = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


@dataclass(frozen=True)
class Scale:
    """Describe the colours of a heat map.

    Attributes:
        label: name and unit of the values, which the colour bar shows.
        low: value of the first colour; None = the smallest value.
        high: value of the last colour; None = the largest value.
        colours: name of matplotlib's colour map.
        digits: decimals written into each cell; None = no numbers.
    """

    label: str = "attention weight"
    low: float | None = 0.0
    high: float | None = 1.0
    colours: str = "Blues"
    digits: int | None = None


WEIGHTS = Scale()
SIGNED = Scale(label="value", low=-1.0, high=1.0, colours="RdBu_r")


def new_picture(width: float = 6.4, height: float = 3.4) -> tuple[Picture, Axes]:
    """Make an empty picture with one set of axes and sizes in inches."""
    with rc_context(STYLE):
        picture = Picture(figsize=(width, height), layout="constrained")
        return picture, picture.add_subplot()


def write_values(axes: Axes, image: AxesImage, digits: int) -> None:
    """Write each value of a heat map into its cell, in black or white."""
    values = np.asarray(image.get_array())
    for (row, column), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        text = f"{value:.{digits}f}"
        ink = "white" if dark else "black"
        axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=8)


@rc_context(STYLE)
def draw_heatmap(
    axes: Axes,
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    scale: Scale = WEIGHTS,
) -> AxesImage:
    """Draw a matrix on `axes`, with a row for each query and a column for each key.

    Args:
        axes: axes to draw on.
        matrix: (t, s) values.
        rows: t labels, such as the target's tokens.
        columns: s labels, such as the source's tokens.
        scale: description of the colours.

    Returns:
        The image, for a colour bar.

    Raises:
        ValueError: if the labels do not fit the matrix.
    """
    values = np.asarray(matrix, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"expected a matrix of ({len(rows)}, {len(columns)}), one row and one "
            f"column a label; found {values.shape}"
        )
    image = axes.imshow(values, cmap=scale.colours, vmin=scale.low, vmax=scale.high)
    axes.grid(False)
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    if scale.digits is not None:
        write_values(axes, image, scale.digits)
    return image


@rc_context(STYLE)
def heatmap(
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    scale: Scale = WEIGHTS,
) -> Picture:
    """Draw one heat map with its title, axes and colour bar.

    Args:
        matrix: (t, s) values.
        rows: t labels of the queries (target).
        columns: s labels of the keys (source).
        title: title of the figure.
        scale: description of the colours.

    Returns:
        The picture.

    Raises:
        ValueError: if the labels do not fit the matrix.
    """
    width, height = 2.6 + 0.42 * len(columns), 1.6 + 0.34 * len(rows)
    picture, axes = new_picture(max(width, 4.0), max(height, 2.6))
    image = draw_heatmap(axes, matrix, rows, columns, scale)
    axes.set(title=title, xlabel="key (source)", ylabel="query (target)")
    picture.colorbar(image, ax=axes, label=scale.label)
    return picture
