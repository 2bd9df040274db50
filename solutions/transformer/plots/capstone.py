"""Figures of the capstone: a training log, and BLEU against sentence length."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib import rc_context
from matplotlib.ticker import MaxNLocator

from transformer.plots.style import (
    BLACK,
    BLUE,
    MARKERS,
    ORANGE,
    STYLE,
    Picture,
    new_picture,
)

Record = Mapping[str, float]
Group = tuple[int, float | None]


@rc_context(STYLE)
def training_log(history: Sequence[Record], title: str = "Training log") -> Picture:
    """Draw the training and validation perplexity after each epoch.

    Args:
        history: a `Trainer`'s records with `epoch`, `train_loss` and `valid_loss`;
            losses are in nats.
        title: title of the figure.

    Returns:
        The picture, with a mark at the epoch with the best validation perplexity.

    Raises:
        ValueError: if there is no epoch.
    """
    if not history:
        raise ValueError("expected the record of at least one epoch, found none")
    epochs = [record["epoch"] for record in history]
    train = [math.exp(record["train_loss"]) for record in history]
    valid = [math.exp(record["valid_loss"]) for record in history]
    picture, axes = new_picture()
    axes.plot(epochs, train, color=BLUE, marker="o", label="training, with dropout")
    axes.plot(epochs, valid, color=ORANGE, marker="s", label="validation, without")
    best = valid.index(min(valid))
    note = f"best: {valid[best]:.2f}"
    axes.annotate(
        note,
        (epochs[best], valid[best]),
        xytext=(0, 14),
        textcoords="offset points",
        ha="center",
        color=BLACK,
    )
    axes.set(title=title, xlabel="epoch", ylabel="perplexity (logarithmic)")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()
    return picture


def group_names(limits: Sequence[int]) -> list[str]:
    """Return a name for each group of source lengths, such as "≤ 8", "9–12", "> 12"."""
    if not limits:
        return ["all"]
    inner = [
        f"{low + 1}–{high}" if low + 1 < high else f"{high}"
        for low, high in pairwise(limits)
    ]
    return [f"≤ {limits[0]}", *inner, f"> {limits[-1]}"]


@rc_context(STYLE)
def bleu_against_length(
    series: Mapping[str, Sequence[Group]],
    limits: Sequence[int],
    title: str = "BLEU against sentence length",
) -> Picture:
    """Draw the BLEU of groups of sentences, with a line for each translator.

    Args:
        series: the number of sentences and the BLEU of each group, by name, as from
            `bleu_by_length`. Groups without sentences are left out.
        limits: the greatest source length of every group but the last.
        title: title of the figure.

    Returns:
        The picture, with the number of sentences below each group.

    Raises:
        ValueError: if there is no line, or the number of groups does not match the
            limits.
    """
    names = group_names(limits)
    for label, groups in series.items():
        if len(groups) != len(names):
            raise ValueError(
                f"{label}: expected {len(names)} groups for {len(limits)} limits, "
                f"found {len(groups)}"
            )
    if not series:
        raise ValueError("expected at least one line, found none")
    picture, axes = new_picture()
    for number, (label, groups) in enumerate(series.items()):
        points = [(x, bleu) for x, (_, bleu) in enumerate(groups) if bleu is not None]
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(*zip(*points, strict=True), marker=marker, label=label)
    first = next(iter(series.values()))
    ticks = [f"{name}\nn = {n}" for name, (n, _) in zip(names, first, strict=True)]
    axes.set_xticks(range(len(names)), ticks)
    axes.set(title=title, xlabel="source length (words)", ylabel="BLEU", ylim=(0, 100))
    axes.legend()
    return picture
