"""Figures of unit 12: measured times, reach of stacked layers, alignments of heads."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from transformer.data import SentencePair
from transformer.experiments.layer_timing import Measurement
from transformer.plots.style import (
    BLACK,
    DASHES,
    MARKERS,
    ORANGE,
    PALETTE,
    STYLE,
    WEIGHTS,
    Picture,
    Scale,
    draw_heatmap,
)

SHARE = Scale(label="share on the pronoun's noun", colours="RdBu", digits=2)
ERROR_RATE = Scale(label="alignment error rate", colours="Blues_r", digits=2)


@rc_context(STYLE)
def costs_and_times(
    costs: Mapping[str, Sequence[int]],
    measured: Sequence[Measurement],
    d_model: int,
    crossing: float | None,
) -> Picture:
    """Draw the predicted cost and the measured time of kinds of layer by length.

    Args:
        costs: multiply-adds of each kind of layer at the measured lengths.
        measured: times of the same kinds of layer at the same lengths.
        d_model: width of the layers.
        crossing: measured length from which self-attention is slower than the recurrent
            layer, or None.

    Returns:
        The picture, two panels with logarithmic axes.

    Raises:
        ValueError: if the costs do not have one value per length.
    """
    lengths = sorted({row.length for row in measured})
    times = {
        kind: [1e3 * _seconds(measured, kind, n) for n in lengths] for kind in costs
    }
    picture = Picture(figsize=(8.6, 3.7), layout="constrained")
    left, right = picture.subplots(1, 2)
    _draw_lines(left, lengths, {k: [c / 1e6 for c in costs[k]] for k in costs})
    _draw_lines(right, lengths, times)
    left.set(title="predicted by Table 1", ylabel="millions of multiply-adds")
    right.set(title="measured", ylabel="time of a batch (ms)")
    for axes, place in ((left, d_model), (right, crossing)):
        axes.axvline(d_model, color=BLACK, linestyle=":", linewidth=1)
        axes.set_xlabel("tokens in a sentence, n")
        if place is not None:
            _mark_crossing(axes, place, lengths)
    left.legend(loc="upper left", fontsize=9)
    title = f"Where self-attention costs more than recurrence (d = {d_model})"
    picture.suptitle(title, x=0.01, ha="left")
    return picture


def _mark_crossing(axes: Axes, place: float, lengths: Sequence[int]) -> None:
    axes.axvline(place, color=BLACK, linewidth=1, alpha=0.6)
    in_the_left_half = place**2 < lengths[0] * lengths[-1]
    axes.annotate(
        f"crossing at n = {place:.0f}",
        (place, 0.03),
        xycoords=("data", "axes fraction"),
        xytext=(6 if in_the_left_half else -6, 0),
        textcoords="offset points",
        ha="left" if in_the_left_half else "right",
    )


def _seconds(measured: Sequence[Measurement], kind: str, length: int) -> float:
    found = [r.seconds for r in measured if (r.kind, r.length) == (kind, length)]
    if len(found) != 1:
        raise ValueError(
            f"expected one measurement of {kind} at n = {length}, found {len(found)}"
        )
    return found[0]


def _draw_lines(
    axes: Axes, lengths: Sequence[int], lines: Mapping[str, Sequence[float]]
) -> None:
    for number, (kind, values) in enumerate(lines.items()):
        if len(values) != len(lengths):
            raise ValueError(
                f"expected a value of {kind} for each of {len(lengths)} lengths, "
                f"found {len(values)}"
            )
        axes.plot(
            lengths,
            values,
            color=PALETTE[number],
            linestyle=DASHES[number],
            marker=MARKERS[number],
            label=kind.replace("_", " "),
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.minorticks_off()


@rc_context(STYLE)
def connected(reach: Mapping[str, ArrayLike], title: str) -> Picture:
    """Draw which outputs depend on which inputs, in a grid for each kind of layer.

    Args:
        reach: kind of layer to (n, n), above 0 where output i depends on input j.
        title: title of the figure.

    Returns:
        The picture. The title of each grid states whether the last output depends on
            the first input.
    """
    picture = Picture(figsize=(2.15 * len(reach), 2.9), layout="constrained")
    for axes, (kind, values) in zip(
        picture.subplots(1, len(reach), squeeze=False).flat, reach.items(), strict=True
    ):
        seen = np.asarray(values) > 0
        last = len(seen) - 1
        axes.imshow(seen, cmap="Blues", vmin=0, vmax=1.4)
        axes.grid(False)
        axes.set_xticks([0, last], ["first", "last"])
        axes.set_yticks([0, last], ["first", "last"])
        corner = Rectangle((-0.5, last - 0.5), 1, 1, fill=False, clip_on=False)
        corner.set(edgecolor=ORANGE, linewidth=2.5)
        axes.add_patch(corner)
        answer = "connected" if seen[last, 0] else "not connected"
        axes.set_title(f"{kind.replace('_', ' ')}\n{answer}", fontsize=9)
    picture.suptitle(title, x=0.01, ha="left", fontsize=11)
    picture.supxlabel("position that goes in", fontsize=10)
    picture.supylabel("position that comes out", fontsize=10)
    return picture


@rc_context(STYLE)
def both_rows_of_a_head(
    writes: ArrayLike, reads: ArrayLike, pair: SentencePair, title: str
) -> Picture:
    """Draw a head's cross-attention twice, because a word can have either of two rows.

    Args:
        writes: (t, s), with the row of the position that predicts the word.
        reads: (t, s), with the row of the next position, whose input is the word.
        pair: the sentence; frames show its alignment.
        title: title of the figure.

    Returns:
        The picture.

    Raises:
        ValueError: if the weights do not fit the sentence, or it has no alignment.
    """
    if pair.alignment is None:
        raise ValueError("expected a pair with an alignment, found none")
    width, height = 1.6 + 0.3 * len(pair.src), 2.1 + 0.26 * len(pair.tgt)
    picture = Picture(figsize=(2 * width, height), layout="constrained")
    names = ("the position that writes the word", "the position that has read it")
    both = picture.subplots(1, 2, sharey=True)
    for axes, weights, name in zip(both, (writes, reads), names, strict=True):
        image = draw_heatmap(axes, weights, pair.tgt, pair.src)
        for column, row in pair.alignment:
            frame = Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False)
            frame.set(edgecolor=ORANGE, linewidth=2.0)
            axes.add_patch(frame)
        axes.set_title(name, fontsize=10)
    picture.suptitle(title, x=0.01, ha="left", fontsize=11)
    picture.supxlabel("key (source)", fontsize=10)
    picture.supylabel("target word", fontsize=10)
    picture.colorbar(image, ax=both, label=WEIGHTS.label, shrink=0.8)
    return picture


@rc_context(STYLE)
def error_rates_of_heads(writes: ArrayLike, reads: ArrayLike) -> Picture:
    """Draw the alignment error rate of every head, for both choices of a word's row.

    Args:
        writes: (layers, h), with the row of the position that predicts a word.
        reads: (layers, h), with the row of the next position, whose input is the word.

    Returns:
        The picture.
    """
    picture = Picture(figsize=(7.6, 2.8), layout="constrained")
    names = ("the position that writes the word", "the position that has read it")
    both = picture.subplots(1, 2, sharey=True)
    for axes, rates, name in zip(both, (writes, reads), names, strict=True):
        layers, heads = np.shape(rates)
        rows = [f"layer {number + 1}" for number in range(layers)]
        columns = [f"head {number + 1}" for number in range(heads)]
        image = draw_heatmap(axes, rates, rows, columns, ERROR_RATE)
        axes.set_title(name, fontsize=10)
    picture.suptitle("Which heads align, and in which row", x=0.01, ha="left")
    picture.colorbar(image, ax=both, label=ERROR_RATE.label, shrink=0.9)
    return picture


@rc_context(STYLE)
def shares_of_heads(
    shares: Mapping[str, Mapping[str, ArrayLike]], title: str
) -> Picture:
    """Draw how often each head prefers the pronoun's noun to the other noun.

    Args:
        shares: a dict from panel titles to dicts, which map each kind of clue to shares
            from 0 to 1, (layers, h).
        title: title of the figure.

    Returns:
        The picture, with a panel for each model, a row for each kind and a column for
            each head.
    """
    picture = Picture(figsize=(8.6, 2.9), layout="constrained")
    both = picture.subplots(1, len(shares), sharey=True)
    for axes, (name, of_kind) in zip(both, shares.items(), strict=True):
        layers, heads = np.shape(next(iter(of_kind.values())))
        columns = [f"{i + 1}.{j + 1}" for i in range(layers) for j in range(heads)]
        values = [np.ravel(one) for one in of_kind.values()]
        image = draw_heatmap(axes, values, list(of_kind), columns, SHARE)
        axes.set_title(name, fontsize=10)
        axes.axvline(heads - 0.5, color="white", linewidth=4)
    picture.suptitle(title, x=0.01, ha="left", fontsize=11)
    picture.supxlabel("layer.head of the encoder", fontsize=10)
    picture.colorbar(image, ax=both, label=SHARE.label, shrink=0.9)
    return picture


@rc_context(STYLE)
def where_pronouns_look(
    rows: Sequence[tuple[Sequence[str], ArrayLike, str]], title: str
) -> Picture:
    """Draw one head's attention weights from the pronoun of each sentence.

    Args:
        rows: the s words of each sentence, its weights (s,) and a label.
        title: title of the figure.

    Returns:
        The picture, with a row for each sentence.
    """
    picture = Picture(figsize=(6.4, 0.5 + 1.05 * len(rows)), layout="constrained")
    strips = picture.subplots(len(rows), 1, squeeze=False)[:, 0]
    for axes, (words, weights, name) in zip(strips, rows, strict=True):
        image = draw_heatmap(axes, np.reshape(weights, (1, -1)), [name], words)
    picture.suptitle(title, x=0.01, ha="left", fontsize=11)
    picture.colorbar(image, ax=list(strips), label=WEIGHTS.label, shrink=0.8)
    return picture
