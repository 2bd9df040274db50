"""Figures of the decoder: what it looks at, beside what it should look at."""

from collections.abc import Iterable, Sequence

from matplotlib import rc_context
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from transformer.plots.style import ORANGE, STYLE, Picture, heatmap


@rc_context(STYLE)
def attention_on_gold(
    weights: ArrayLike,
    alignment: Iterable[tuple[int, int]],
    target: Sequence[str],
    source: Sequence[str],
    title: str,
) -> Picture:
    """Draw cross-attention, with a frame around each pair of the gold alignment.

    Args:
        weights: (t, s), a row for each word written.
        alignment: pairs (place in `source`, place in `target`).
        target: the t words written; the row of a word holds the weights from which it
            was predicted.
        source: the s words read.
        title: what the figure shows.

    Returns:
        The picture.

    Raises:
        ValueError: if the words do not fit the weights.
    """
    picture = heatmap(weights, target, source, title)
    for column, row in alignment:
        frame = Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False)
        frame.set(edgecolor=ORANGE, linewidth=2.0)
        picture.axes[0].add_patch(frame)
    return picture
