"""Figures of training: wrong runs, schedules, smoothed labels, losses by epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from numpy.typing import ArrayLike

from transformer.plots.style import (
    BLACK,
    BLUE,
    DASHES,
    ORANGE,
    PALETTE,
    STYLE,
    Picture,
    new_picture,
)


@dataclass(frozen=True)
class RunCurve:
    """Hold the losses and the BLEU of one training run.

    Attributes:
        losses: the loss of each step, as that run computed it.
        bleu: the BLEU of its greedy translations.
    """

    losses: Sequence[float]
    bleu: float


def smooth(values: ArrayLike, width: int = 15) -> np.ndarray:
    """Return the mean of each value and up to `width - 1` values before it."""
    total = np.cumsum(np.asarray(values, dtype=float))
    sums = total.copy()
    sums[width:] -= total[:-width]
    return sums / np.minimum(np.arange(1, len(total) + 1), width)


def losses_and_bleu(runs: Mapping[str, RunCurve]) -> Picture:
    """Draw the loss of several runs, and write each run's BLEU at the end of its line.

    Args:
        runs: the runs by name, beginning with the correct one.

    Returns:
        The picture; on a phone, the BLEU is below the figure.
    """
    picture = _draw_losses(runs, (7.6, 3.8), at_the_end=True)
    picture.narrow_picture = _draw_losses(runs, (3.9, 4.4), at_the_end=False)
    return picture


@rc_context(STYLE)
def _draw_losses(
    runs: Mapping[str, RunCurve], size: tuple[float, float], at_the_end: bool
) -> Picture:
    picture, axes = new_picture(*size)
    for (name, run), colour, dash in zip(
        runs.items(), (BLACK, *PALETTE), ("-", *DASHES[1:]), strict=False
    ):
        steps, losses = range(1, len(run.losses) + 1), smooth(run.losses)
        text = f"{name}: BLEU {run.bleu:.1f}"
        axes.plot(steps, losses, color=colour, linestyle=dash, label=text)
        end = (len(run.losses), losses[-1])
        if at_the_end:
            axes.annotate(
                "  " + text, end, va="center", color=colour, annotation_clip=False
            )
    if not at_the_end:
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.2))
    axes.set_xlim(1, max(len(run.losses) for run in runs.values()))
    axes.set_ylim(bottom=0)
    axes.set(
        title="The right run has the highest loss",
        xlabel="training step",
        ylabel="loss, as each run counts it (nats)",
    )
    return picture


@rc_context(STYLE)
def schedules(rates: Mapping[str, Sequence[float]]) -> Picture:
    """Draw learning rates by step.

    Args:
        rates: the rate of each step from step 0, by the schedule's name.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 3.2)
    for (name, values), dash in zip(rates.items(), DASHES, strict=False):
        axes.plot(range(len(values)), values, linestyle=dash, label=name)
    axes.set_ylim(bottom=0)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
    axes.set(
        title="Up in a line, down with the root of the step",
        xlabel="training step",
        ylabel="learning rate",
    )
    axes.legend(loc="upper right")
    return picture


def smoothed_loss(margin: np.ndarray, smoothing: float, n_words: int) -> np.ndarray:
    """Compute the loss if the target's logit exceeds all others by `margin`."""
    log_sum = np.logaddexp(margin, np.log(n_words - 1))
    on_target, on_other = log_sum - margin, log_sum
    share = smoothing / n_words
    return (1 - smoothing + share) * on_target + (n_words - 1) * share * on_other


@rc_context(STYLE)
def smoothing_curve(smoothing: float, n_words: int) -> Picture:
    """Draw the loss by how far the target's logit exceeds the others; mark the minimum.

    Args:
        smoothing: probability mass that is spread over all words.
        n_words: words in the vocabulary.

    Returns:
        The picture; its axes do not depend on `smoothing`.
    """
    picture, axes = new_picture(6.4, 3.2)
    margin = np.linspace(0, 20, 801)
    losses = smoothed_loss(margin, smoothing, n_words)
    axes.plot(margin, losses, color=BLUE)
    best = margin[losses.argmin()]
    lead = np.exp(best - np.logaddexp(best, np.log(n_words - 1)))
    where = "no best lead: the more, the better"
    if smoothing > 0:
        axes.plot(best, losses.min(), marker="o", markersize=9, color=ORANGE)
        where = f"best at a lead of {best:.1f}, where p = {lead:.2f}"
    axes.set_ylim(0, 7)
    axes.set(
        title=f"ε = {smoothing:.2f}: {where}",
        xlabel="lead of the target over every other word (logits)",
        ylabel="loss (nats)",
    )
    return picture


@rc_context(STYLE)
def progress(history: Sequence[Mapping[str, float]]) -> Picture:
    """Draw the training loss and the validation loss of a run after each epoch.

    Args:
        history: the records that `Trainer.run` returns.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.0, 3.2)
    epochs = [record["epoch"] for record in history]
    for key, name, marker, colour, dash in (
        ("train_loss", "training: smoothed", "s", ORANGE, "--"),
        ("valid_loss", "validation: plain", "o", BLUE, "-"),
    ):
        values = [record[key] for record in history]
        axes.plot(epochs, values, dash, marker=marker, color=colour, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xticks(epochs)
    axes.set(
        title="The two losses do not count the same thing",
        xlabel="epoch",
        ylabel="mean loss (nats)",
    )
    axes.legend(loc="upper right")
    return picture
