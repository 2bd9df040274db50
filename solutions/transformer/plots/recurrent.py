"""Figures of recurrent attention: accuracy by length, and attention weights."""

import html
from collections.abc import Mapping, Sequence

from matplotlib import rc_context
from torch import Tensor

from transformer.plots.style import (
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    PURPLE,
    STYLE,
    Picture,
    new_picture,
)


@rc_context(STYLE)
def accuracy_against_length(
    accuracy: Mapping[tuple[bool, int], Mapping[int, float]], steps: int
) -> Picture:
    """Draw the share of right tokens against the length of the source.

    Args:
        accuracy: the share in [0, 1] for each length. The keys state whether the
            translator uses attention, and the width of its state; at most three widths.
        steps: training steps of each translator.

    Returns:
        The picture, with a marker for each width, and dashed lines for translators that
            read all states.
    """
    picture, axes = new_picture(6.4, 4.2)
    widths = sorted({width for _, width in accuracy})
    for (attention, width), shares in accuracy.items():
        place = widths.index(width)
        axes.plot(
            sorted(shares),
            [shares[length] for length in sorted(shares)],
            color=ORANGE if attention else (BLUE, GREEN, PURPLE)[place],
            linestyle="--" if attention else "-",
            marker=MARKERS[place],
            label=f"reads {'all states' if attention else 'the last'}, width {width}",
        )
        axes.set_xticks(sorted(shares))
    axes.set_ylim(0, 1.05)
    axes.set(
        title=f"After {steps:,} steps of training",
        xlabel="words in the source",
        ylabel="share of right words",
    )
    axes.legend(loc="lower left")
    return picture


@rc_context(STYLE)
def bleu_against_length(
    bleu: Mapping[str, Sequence[float]], lengths: Sequence[str]
) -> Picture:
    """Draw the BLEU of several models against the length of the source.

    Args:
        bleu: the BLEU for each group of lengths, by the model's name.
        lengths: the names of the groups, from short to long.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 3.6)
    for marker, (name, scores) in zip(MARKERS, bleu.items(), strict=False):
        axes.plot(range(len(lengths)), scores, marker=marker, label=name)
    axes.set_xticks(range(len(lengths)), lengths)
    axes.set(xlabel="words in the source", ylabel="BLEU")
    axes.legend()
    return picture


@rc_context(STYLE)
def one_look(
    weights: Tensor, source: Sequence[str], written: Sequence[str], position: int
) -> Picture:
    """Draw the decoder's attention weights for one word.

    Args:
        weights: (t, s), with a row for each written word.
        source: the s source words.
        written: the t written words.
        position: index of the word being written.

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


class WeighedSentences:
    """Sentences as HTML, with a number and a shade of blue for each word's weight.

    Args:
        sentences: the words of each sentence.
        weights: a weight in [0, 1] for each word of each sentence.
        names: a label for each sentence.

    Raises:
        ValueError: if a sentence does not have one weight per word and one name.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]],
        names: Sequence[str],
    ) -> None:
        """Store the sentences, weights and names."""
        sizes = list(map(len, sentences)), list(map(len, weights))
        if sizes[0] != sizes[1] or len(names) != len(sentences):
            raise ValueError(
                "expected a name for each sentence and a weight for each word; found "
                f"{len(names)} names, {sizes[0]} words and {sizes[1]} weights"
            )
        self.rows = list(zip(names, sentences, weights, strict=True))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<p><b>{html.escape(name)}</b><br>{_weighed(words, weights)}</p>"
            for name, words, weights in self.rows
        )
        return f'<div class="weighed-sentences">{rows}</div>'


def _weighed(words: Sequence[str], weights: Sequence[float]) -> str:
    """Return HTML of words with their weights, on a blue that grows with the weight."""
    style = "display: inline-block; text-align: center; padding: 0 0.25em; margin: 1px"
    return " ".join(
        f'<span style="{style}; background: rgb(0 114 178 / {0.6 * weight:.2f})">'
        f"{html.escape(word)}<br><small>{weight:.2f}</small></span>"
        for word, weight in zip(words, weights, strict=True)
    )
