"""Figures of attention: entropy, the weights of one query, and training losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.axes import Axes
from torch import Tensor

from transformer.plots.style import BLUE, GREY, ORANGE, STYLE, Picture, new_picture
from transformer.plots.training import smooth


@dataclass(frozen=True)
class WidthSweep:
    """Hold measurements at each width d_k, with and without the factor 1 / √d_k.

    Attributes:
        widths: the values of d_k.
        scaled: one measurement for each width, with the factor.
        unscaled: the same without the factor.
    """

    widths: Sequence[int]
    scaled: Sequence[float]
    unscaled: Sequence[float]


@rc_context(STYLE)
def entropy_against_width(entropy: WidthSweep, highest: float) -> Picture:
    """Draw the mean entropy of the weights against d_k.

    Args:
        entropy: mean entropies in nats.
        highest: the entropy of uniform weights, ln s, drawn as a line.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 3.6)
    axes.axhline(highest, color=GREY, linestyle=":")
    axes.text(entropy.widths[0], highest, "even weights: ln s", va="bottom")
    axes.plot(entropy.widths, entropy.scaled, marker="o", label="divided by √d_k")
    axes.plot(entropy.widths, entropy.unscaled, marker="s", label="not divided")
    axes.set_xscale("log", base=2)
    axes.set_xticks(entropy.widths, [str(width) for width in entropy.widths])
    axes.set_ylim(0, highest * 1.15)
    axes.set(
        title="Without the scale, wide queries attend to one key alone",
        xlabel="width of queries and keys, d_k",
        ylabel="entropy of the weights (nats)",
    )
    axes.legend(loc="lower left")
    return picture


@rc_context(STYLE)
def weights_of_one_query(scaled: Tensor, unscaled: Tensor, d_k: int) -> Picture:
    """Draw one query's weights over the keys, with and without scaling.

    Args:
        scaled: (s,) weights.
        unscaled: (s,) weights of the same query and keys, without scaling.
        d_k: width of the queries and keys, for the title.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.4, 2.8)
    places = list(range(len(scaled)))
    left = [place - 0.2 for place in places]
    right = [place + 0.2 for place in places]
    axes.bar(left, scaled.tolist(), width=0.4, color=BLUE, label="divided by √d_k")
    axes.bar(
        right,
        unscaled.tolist(),
        width=0.4,
        color=ORANGE,
        hatch="//",
        label="not divided",
    )
    axes.set_ylim(0, 1.25)  # leaves space for the legend above the bars
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xticks(places)
    axes.set(
        title=f"The weights of one query at d_k = {d_k}",
        xlabel="key",
        ylabel="attention weight",
    )
    axes.legend(loc="upper right", ncols=2)
    return picture


@dataclass(frozen=True)
class ScaleRuns:
    """Hold the losses of training runs with and without scaling.

    Attributes:
        scaled: the loss of each step with scaling, in one row per seed.
        unscaled: the same without scaling.
    """

    scaled: Sequence[Sequence[float]]
    unscaled: Sequence[Sequence[float]]


def losses_with_and_without_scale(
    runs: Mapping[str, ScaleRuns], chance: float
) -> Picture:
    """Draw smoothed losses with and without scaling, in one panel per learning rate.

    Args:
        runs: the title of each panel to its runs.
        chance: the loss of random guessing, in nats; drawn as a line.

    Returns:
        The picture, with the panels below each other on a phone.
    """
    picture = _loss_panels(runs, chance, (7.2, 3.4), n_columns=len(runs))
    picture.narrow_picture = _loss_panels(runs, chance, (3.9, 5.2), n_columns=1)
    return picture


@rc_context(STYLE)
def _loss_panels(
    runs: Mapping[str, ScaleRuns],
    chance: float,
    size: tuple[float, float],
    n_columns: int,
) -> Picture:
    picture = Picture(figsize=size, layout="constrained")
    shape = (len(runs) // n_columns, n_columns)
    panels = picture.subplots(*shape, sharex=True, sharey=True, squeeze=False).flat
    for axes, (title, one) in zip(panels, runs.items(), strict=True):
        axes.axhline(chance, color=GREY, linestyle=":")
        last = max(map(len, one.scaled))
        axes.text(last, chance, "guessing", va="bottom", ha="right")
        _draw_runs(axes, one.scaled, "divided by √d_k", BLUE, "-")
        _draw_runs(axes, one.unscaled, "not divided", ORANGE, "--")
        axes.set_ylim(0, chance * 1.15)
        axes.set(title=title, xlabel="training step", ylabel="loss (nats)")
        axes.label_outer()
        axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.86))
    return picture


def _draw_runs(
    axes: Axes, runs: Sequence[Sequence[float]], name: str, colour: str, dash: str
) -> None:
    for seed, losses in enumerate(runs):
        steps, label = range(1, len(losses) + 1), "" if seed else name
        axes.plot(steps, smooth(losses), color=colour, linestyle=dash, label=label)
