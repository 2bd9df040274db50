"""Figures of the decoder: its cross-attention compared with the gold alignment."""

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
    """Draw cross-attention, with a frame around each link of the gold alignment.

    Args:
        weights: (t, s), with a row for each word written.
        alignment: links (position in `source`, position in `target`).
        target: the t words written. The row of a word shows the weights with which the
            model predicted it.
        source: the s source words.
        title: title of the figure.

    Returns:
        The picture.

    Raises:
        ValueError: if the words do not fit the weights.
    """
    picture = heatmap(weights, target, source, title)
    picture.axes[0].set(xlabel="source word", ylabel="predicted word")
    for column, row in alignment:
        frame = Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False)
        frame.set(edgecolor=ORANGE, linewidth=2.0)
        picture.axes[0].add_patch(frame)
    return picture
