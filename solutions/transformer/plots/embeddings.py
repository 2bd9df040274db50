"""Figures of embeddings: a map of words, and lengths of word and position vectors."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional as F

from transformer.plots.style import GREY, MARKERS, PALETTE, STYLE, Picture, new_picture


def main_plane(table: Tensor) -> Tensor:
    """Find the plane in which the directions of the vectors differ most.

    Args:
        table: (n, d_model) vectors, with n of at least 3.

    Returns:
        (d_model, 2), two orthonormal columns: the first principal components.
    """
    directions = F.normalize(table.detach().double(), dim=-1)
    _, _, v = torch.linalg.svd(directions - directions.mean(dim=0), full_matrices=False)
    signs = v[:2].abs().argmax(dim=1)  # an SVD leaves the signs open
    return (v[:2] * v[:2].gather(1, signs[:, None]).sign()).T


def place_words(table: Tensor, plane: Tensor) -> np.ndarray:
    """Project the directions of vectors (n, d_model) onto a plane: (n, 2)."""
    return (F.normalize(table.detach().double(), dim=-1) @ plane).numpy()


@rc_context(STYLE)
def word_map(
    places: ArrayLike, groups: Mapping[str, Sequence[str]], title: str
) -> Picture:
    """Draw a map of words, with a marker and a colour for each group.

    Args:
        places: (n, 2), beginning with the words of the first group.
        groups: the words of each group, by its name; n words in all.
        title: title of the figure.

    Returns:
        The picture, always with the same axes, for use with a slider.

    Raises:
        ValueError: if there is not one place for each word.
    """
    places = np.asarray(places, dtype=float)
    n_words = sum(map(len, groups.values()))
    if places.shape != (n_words, 2):
        raise ValueError(
            f"expected places of shape ({n_words}, 2), one row a word; "
            f"found {places.shape}"
        )
    picture, axes = new_picture(6.8, 5.2)
    first = 0
    for number, (name, words) in enumerate(groups.items()):
        _draw_group(axes, places[first : first + len(words)], name, words, number)
        first += len(words)
    axes.set(xlim=(-1, 1), ylim=(-1, 1), title=title)
    axes.set(xlabel="first direction of the plane", ylabel="second direction")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    return picture


def _draw_group(
    axes: Axes, places: np.ndarray, name: str, words: Sequence[str], number: int
) -> None:
    colour = PALETTE[number % len(PALETTE)]
    marker = MARKERS[number % len(MARKERS)]
    x, y = places.T
    axes.scatter(x, y, s=34, color=colour, marker=marker, label=name, zorder=2)
    for word, place in zip(words, places, strict=True):
        axes.annotate(
            word, place, xytext=(5, 2), textcoords="offset points", fontsize=8
        )


@rc_context(STYLE)
def loudness_against_width(
    widths: Sequence[int], ratios: Mapping[str, Sequence[float]]
) -> Picture:
    """Draw the ratio of a word vector's length to a position's, against d_model.

    Args:
        widths: values of d_model.
        ratios: the ratio of lengths at each width, by the name of the initialisation.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.8, 3.8)
    axes.axhline(1.0, color=GREY, linestyle=":", linewidth=1.2)
    axes.text(widths[0], 0.9, "equally long", va="top", fontsize=9)
    for (name, values), marker in zip(ratios.items(), MARKERS, strict=False):
        axes.plot(widths, values, marker=marker, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    axes.set(
        title="The factor √d_model and the initialisation belong together",
        xlabel="width of a vector, d_model",
        ylabel="length of a word / of a position",
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    return picture
