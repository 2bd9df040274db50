"""Figures of masks, and of the influence of inputs on outputs under a mask."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer.plots.style import (
    BLUE,
    ORANGE,
    STYLE,
    Picture,
    Scale,
    draw_heatmap,
    new_picture,
)

MAY_ATTEND = Scale(label="may attend", low=0.0, high=2.0, colours="Blues")
REACH = Scale(label="log₁₀ |∂out / ∂x|", low=-3.0, high=1.0, colours="Blues")


def draw_mask(
    axes: Axes, mask: ArrayLike, rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw a mask, with a filled square and a dot where a query may attend to a key.

    Args:
        axes: axes to draw on.
        mask: (t, s) bool, True = may attend.
        rows: the tokens of the queries.
        columns: the tokens of the keys.

    Raises:
        ValueError: if the tokens do not fit the mask.
    """
    draw_heatmap(axes, mask, rows, columns, MAY_ATTEND)
    places = np.argwhere(np.asarray(mask))
    axes.plot(places[:, 1], places[:, 0], "o", color="black", markersize=3)
    _rule_cells(axes, len(rows), len(columns))


def _rule_cells(axes: Axes, rows: int, columns: int) -> None:
    axes.set_xticks(np.arange(0.5, columns - 1), minor=True)
    axes.set_yticks(np.arange(0.5, rows - 1), minor=True)
    axes.grid(True, which="minor", color="#999999", linewidth=0.6)
    axes.tick_params(which="minor", length=0)


@rc_context(STYLE)
def masks_in_a_row(
    masks: Mapping[str, ArrayLike],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
) -> Picture:
    """Draw masks next to each other, each with its name as the title.

    Args:
        masks: name to mask (t, s) bool, True = may attend.
        rows: the queries' tokens.
        columns: the keys' tokens.
        title: title of the figure.

    Returns:
        The picture.
    """
    width, height = 1.0 + 0.24 * len(columns), 1.7 + 0.24 * len(rows)
    picture = Picture(figsize=(width * len(masks), height), layout="constrained")
    places = picture.subplots(1, len(masks), squeeze=False).flat
    for axes, (name, mask) in zip(places, masks.items(), strict=True):
        draw_mask(axes, mask, rows, columns)
        axes.set_title(name)
    picture.suptitle(title, x=0.01, ha="left")
    picture.supxlabel("key")
    picture.supylabel("query")
    return picture


@rc_context(STYLE)
def mask_and_influence(
    mask: ArrayLike, influence: ArrayLike, tokens: Sequence[str], title: str
) -> Picture:
    """Draw a mask next to the influence of each input token on each output token.

    Args:
        mask: (t, t) bool, True = may attend.
        influence: (t, t), |∂out_i / ∂x_j|, with marks for exact zeros.
        tokens: the t tokens of the input and the output.
        title: title of the figure.

    Returns:
        The picture.
    """
    side = 2.1 + 0.24 * len(tokens)
    picture = Picture(figsize=(2 * side + 0.6, side), layout="constrained")
    left, right = picture.subplots(1, 2)
    draw_mask(left, mask, tokens, tokens)
    left.set(title="the mask of every layer", xlabel="key", ylabel="query")
    values = np.asarray(influence, dtype=float)
    shown = np.where(values > 0, values, np.nan)
    image = draw_heatmap(right, np.log10(shown), tokens, tokens, REACH)
    for row, column in np.argwhere(values == 0):
        right.text(column, row, "0", ha="center", va="center", fontsize=8)
    right.set(
        title="what reaches what", xlabel="token that goes in", ylabel="comes out"
    )
    picture.colorbar(image, ax=right, label=REACH.label, shrink=0.8)
    picture.suptitle(title, x=0.01, ha="left")
    return picture


@rc_context(STYLE)
def losses_with_and_without(
    masked: Sequence[float], unmasked: Sequence[float]
) -> Picture:
    """Draw the training losses of two models, one with and one without the causal mask.

    Args:
        masked: loss of each step with the causal mask.
        unmasked: the same without the mask.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 3.2)
    axes.plot(masked, color=BLUE, label="with the causal mask")
    axes.plot(unmasked, color=ORANGE, label="without it")
    axes.set_yscale("log")
    axes.set(
        title="The loss does not tell which of the two can write",
        xlabel="step",
        ylabel="training loss (nats, logarithmic)",
    )
    axes.legend(loc="upper right")
    return picture
