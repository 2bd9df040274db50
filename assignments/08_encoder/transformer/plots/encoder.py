"""Figures of the encoder: how a token's vector changes from layer to layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from transformer.plots.style import (
    BLACK,
    BLUE,
    ORANGE,
    PURPLE,
    STYLE,
    Picture,
    Scale,
    draw_heatmap,
    new_picture,
)

DRIFT = Scale(label="1 − cosine", low=0.0, high=1.0, colours="Blues", digits=2)
KINDS = ((BLUE, "o"), (ORANGE, "s"), (PURPLE, "^"))  # one colour and marker each


@rc_context(STYLE)
def drift_by_layer(drift: ArrayLike, tokens: Sequence[str]) -> Picture:
    """Draw how far each token's vector has turned from its input, layer by layer.

    Args:
        drift: (n, s), 1 minus the cosine; row 0 is the encoder's input.
        tokens: the s tokens.

    Returns:
        The picture.
    """
    values = np.asarray(drift, dtype=float).T.round(3) + 0.0  # avoids "-0.00"
    columns = ["input", *(f"layer {number}" for number in range(1, values.shape[1]))]
    picture, axes = new_picture(5.4, 1.4 + 0.3 * len(tokens))
    image = draw_heatmap(axes, values, tokens, columns, DRIFT)
    axes.set_aspect("auto")
    axes.set(title="Every token turns away from the word it was", ylabel="token")
    picture.colorbar(image, ax=axes, label=DRIFT.label)
    return picture


@dataclass(frozen=True)
class WordCloud:
    """Hold one word's vectors in many sentences at each layer, in two dimensions.

    Attributes:
        points: (n, m, 2), with n states of the stack and m occurrences of the word.
        meanings: the meaning of each of the m occurrences.
        examples: sentence to number of the occurrence, for the highlighted examples.
        word: the word.
    """

    points: NDArray[np.float64]
    meanings: Sequence[str]
    examples: Mapping[str, int]
    word: str


def view_from(last: ArrayLike, states: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Project vectors onto the plane in which the vectors of one state differ most.

    Args:
        last: (m, d) vectors whose two principal components are the axes.
        states: n states of (m, d) vectors, each of which is shifted to the mean 0.

    Returns:
        (n, m, 2).
    """
    _, _, directions = np.linalg.svd(_centred(last), full_matrices=False)
    largest = directions[:2].T
    signs = np.sign(largest[np.abs(largest).argmax(axis=0), [0, 1]])  # fixes the signs
    return np.stack([_centred(state) @ (largest * signs) for state in states])


def _centred(vectors: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(vectors, dtype=float)
    return values - values.mean(axis=0)


@rc_context(STYLE)
def word_at_layer(cloud: WordCloud, layer: int) -> Picture:
    """Draw a word's occurrences after some layers, with the paths of the examples.

    Args:
        cloud: the occurrences.
        layer: number of layers; 0 is the encoder's input.

    Returns:
        The picture, with the same axis limits for every layer.
    """
    picture, axes = new_picture(6.4, 4.2)
    kinds = sorted(set(cloud.meanings))
    for kind, (colour, marker) in zip(kinds, KINDS, strict=False):
        own = [number for number, m in enumerate(cloud.meanings) if m == kind]
        x, y = cloud.points[layer, own].T
        points = axes.scatter(x, y, 22, marker=marker, label=kind)
        points.set(facecolors="none", edgecolors=colour)
    for (sentence, number), dash in zip(
        cloud.examples.items(), ("-", "--"), strict=False
    ):
        _draw_way(axes, cloud.points[: layer + 1, number], sentence, dash)
    reach = 1.1 * np.abs(cloud.points).max(axis=(0, 1))
    where = "as it enters the encoder" if layer == 0 else f"after layer {layer}"
    axes.set(
        xlim=(-reach[0], reach[0]),
        ylim=(-reach[1], reach[1]),
        title=f"“{cloud.word}” in {len(cloud.meanings)} sentences, {where}",
        xlabel="first principal component of the last layer",
        ylabel="second",
    )
    picture.legend(loc="outside lower center", ncols=2)
    return picture


def _draw_way(axes: Axes, way: NDArray[np.float64], sentence: str, dash: str) -> None:
    axes.plot(*way.T, dash, color=BLACK, linewidth=1.5)
    (end,) = axes.plot(*way[-1], "*" if dash == "-" else "P", label=sentence)
    end.set(color=BLACK, markersize=13, markerfacecolor="white")
