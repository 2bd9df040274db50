"""Figures of positions: binary digits, rotations by an offset, accuracy by length."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer.plots.style import (
    BLACK,
    BLUE,
    GREY,
    MARKERS,
    ORANGE,
    STYLE,
    Picture,
    new_picture,
)


def _binary_digits(numbers: range, n_bits: int) -> np.ndarray:
    """Return the binary digits of numbers (n, n_bits), with the lowest digit first."""
    return (np.asarray(numbers)[:, None] >> np.arange(n_bits)) & 1


@rc_context(STYLE)
def binary_clock(encoding: ArrayLike, n_bits: int = 5) -> Picture:
    """Draw positional encodings next to the same positions in binary.

    Args:
        encoding: (length, d_model), one row per position.
        n_bits: number of binary digits to draw.

    Returns:
        The picture, with a row for each position in both halves.
    """
    values = np.asarray(encoding, dtype=float)
    length, d_model = values.shape
    picture = Picture(figsize=(6.8, 4.6), layout="constrained")
    left, right = picture.subplots(1, 2, sharey=True, width_ratios=[1, 3])
    digits = _binary_digits(range(length), n_bits)
    left.imshow(digits, cmap="Greys", vmin=0, vmax=1.6, aspect="auto")
    left.set(title="in binary", xlabel="digit", ylabel="position")
    left.set_xticks(range(n_bits), [str(2**bit) for bit in range(n_bits)])
    image = right.imshow(values, cmap="Blues", vmin=-1, vmax=1, aspect="auto")
    right.set(title="sines and cosines", xlabel="column of the encoding")
    right.set_xticks(range(0, d_model, 4))
    for axes in (left, right):
        axes.grid(False)
    picture.colorbar(image, ax=right, label="value")
    picture.suptitle(
        "Fast columns tell neighbours apart, slow ones count far", x=0.01, ha="left"
    )
    return picture


@rc_context(STYLE)
def dials_turned_by(k: int, rates: Sequence[float], starts: Sequence[int]) -> Picture:
    """Draw how an offset of k rotates each pair of columns, for any start.

    The upper part has one dial for each of the first four pairs, with a thin hand at
    each start and a thick hand at the start + k. The lower part shows the dot product
    of two encodings against their offset.

    Args:
        k: the offset.
        rates: radians per position, one for each pair of columns.
        starts: positions to start from, at most two.

    Returns:
        The picture.
    """
    picture = Picture(figsize=(6.8, 4.9), layout="constrained")
    grid = picture.add_gridspec(2, 4, height_ratios=[1.15, 1])
    for pair, rate in enumerate(rates[:4]):
        axes = picture.add_subplot(grid[0, pair])
        _draw_dial(axes, k, rate, starts)
        axes.set_title(f"pair {pair}: {np.degrees(k * rate):.0f}°", loc="center")
    below = picture.add_subplot(grid[1, :])
    offsets = np.arange(0, 33)
    products = np.cos(np.outer(offsets, rates)).sum(axis=1)
    below.plot(offsets, products, color=BLUE)
    product = np.cos(k * np.asarray(rates)).sum()
    below.plot([k], [product], marker="o", markersize=9, color=ORANGE)
    below.axvline(k, color=ORANGE, linestyle="--", linewidth=1.2)
    below.set(xlabel="offset k (positions)", ylabel="PE(p) · PE(p + k)")
    below.set_title(f"k = {k}: dot product {product:.2f}, for every p")
    picture.suptitle(
        "On each dial an offset turns both hands by one angle", x=0.01, ha="left"
    )
    return picture


def _draw_dial(axes: Axes, k: int, rate: float, starts: Sequence[int]) -> None:
    circle = np.linspace(0, 2 * np.pi, 120)
    axes.plot(np.sin(circle), np.cos(circle), color="#999999", linewidth=1)
    for start, colour, style in zip(starts, (BLUE, BLACK), ("-", "--"), strict=False):
        for position, width in ((start, 1.0), (start + k, 3.0)):
            x, y = np.sin(position * rate), np.cos(position * rate)
            axes.plot([0, x], [0, y], color=colour, linestyle=style, linewidth=width)
            name = f"{position}"
            axes.text(1.25 * x, 1.25 * y, name, ha="center", va="center", fontsize=8)
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
    axes.set_axis_off()


@rc_context(STYLE)
def accuracy_against_length(
    lengths: Sequence[int], shares: Mapping[str, Sequence[float]], longest: int
) -> Picture:
    """Draw the share of right tokens against the length of a sequence.

    Args:
        lengths: numbers of symbols in the tested sequences.
        shares: the share in [0, 1] at each length, by the name of the encoding.
        longest: the longest training sequence, marked by a line.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 3.4)
    axes.axvline(longest + 0.5, color=GREY, linestyle=":")
    axes.text(longest + 0.55, 1.06, "never seen", va="center", fontsize=9)
    axes.text(longest + 0.45, 1.06, "trained", va="center", ha="right", fontsize=9)
    for (name, values), marker in zip(shares.items(), MARKERS, strict=False):
        axes.plot(lengths, values, marker=marker, label=name)
    axes.set_ylim(0, 1.12)
    axes.set_xticks(lengths)
    axes.set(
        title="Beyond the lengths of training, reversal breaks down",
        xlabel="symbols in the sequence",
        ylabel="share of right symbols",
    )
    axes.legend(loc="lower left")
    return picture
