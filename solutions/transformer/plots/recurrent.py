"""Figures of recurrent attention: accuracy by length, one look at the source."""

from collections.abc import Mapping, Sequence

from matplotlib import rc_context
from torch import Tensor

from transformer.plots.style import BLUE, MARKERS, STYLE, Picture, new_picture


@rc_context(STYLE)
def accuracy_against_length(accuracy: Mapping[str, Mapping[int, float]]) -> Picture:
    """Draw the share of right tokens against the length of the source.

    Args:
        accuracy: for each model's name, the share in [0, 1] for each length.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 3.6)
    for marker, (name, shares) in zip(MARKERS, accuracy.items(), strict=False):
        lengths = sorted(shares)
        values = [shares[length] for length in lengths]
        axes.plot(lengths, values, marker=marker, label=name)
        axes.set_xticks(lengths)
    axes.set_ylim(0, 1.05)
    axes.set(
        title="One vector for the whole source is too little for long ones",
        xlabel="words in the source",
        ylabel="share of right words",
    )
    axes.legend(loc="lower left")
    return picture


@rc_context(STYLE)
def one_look(
    weights: Tensor, source: Sequence[str], written: Sequence[str], position: int
) -> Picture:
    """Draw what the decoder looks at while it writes one word.

    Args:
        weights: (t, s), a row for each written word.
        source: the s source words.
        written: the t written words.
        position: number of the word being written, from 0.

    Returns:
        The picture.

    Raises:
        ValueError: if the words do not fit the weights.
    """
    if weights.shape != (len(written), len(source)):
        raise ValueError(
            f"expected weights of ({len(written)}, {len(source)}), one row a written "
            f"word and one column a source word; found {tuple(weights.shape)}"
        )
    picture, axes = new_picture(6.4, 2.8)
    axes.bar(range(len(source)), weights[position].tolist(), color=BLUE)
    axes.set_xticks(range(len(source)), source, rotation=30, ha="right")
    axes.set_ylim(0, 1)
    before = " ".join(written[:position])
    axes.set_title(f"{before} [{written[position]}]".strip(), fontsize=10)
    axes.set(xlabel="source word", ylabel="attention weight")
    return picture
