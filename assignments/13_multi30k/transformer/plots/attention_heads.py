"""Figures of each head's cross-attention during translation."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from numpy.typing import ArrayLike

from transformer.plots.style import STYLE, WEIGHTS, Picture, draw_heatmap


@rc_context(STYLE)
def attention_heads(
    weights: ArrayLike,
    target: Sequence[str],
    source: Sequence[str],
    title: str = "Cross-attention of each head",
) -> Picture:
    """Draw one heat map for each head: rows are written words, columns source words.

    Args:
        weights: cross-attention of one layer, (h, t, s).
        target: the t words written. The row of a word shows the weights with which the
            model predicted it.
        source: the s source words.
        title: title of the figure.

    Returns:
        The picture, with four heads in each line.

    Raises:
        ValueError: if the words do not fit the weights.
    """
    heads = np.asarray(weights)
    n_heads = len(heads)
    columns = min(n_heads, 4)
    lines = math.ceil(n_heads / columns)
    width, height = 1.1 + 0.27 * len(source), 1.3 + 0.23 * len(target)
    picture = Picture(figsize=(width * columns, height * lines), layout="constrained")
    axes = picture.subplots(lines, columns, squeeze=False)
    for head, place in enumerate(axes.flat):
        if head >= n_heads:
            place.set_axis_off()
            continue
        image = draw_heatmap(place, heads[head], target, source, WEIGHTS)
        place.set_title(f"head {head + 1}")
    picture.suptitle(title, x=0.01, ha="left")
    picture.supxlabel("key (source)")
    picture.supylabel("query (target)")
    picture.colorbar(image, ax=axes, label=WEIGHTS.label, shrink=0.6)
    return picture
