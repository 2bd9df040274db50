"""Figures of deep stacks: gradients by layer, and losses with and without warm-up."""

from collections.abc import Mapping, Sequence

from matplotlib import rc_context

from transformer.plots.style import GREY, MARKERS, STYLE, Picture, new_picture

LINES = ("-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)))


@rc_context(STYLE)
def gradient_by_layer(
    norms: Mapping[str, Sequence[float]],
    title: str,
    limits: tuple[float, float] | None = None,
) -> Picture:
    """Draw the norm of each layer's gradient, with one line for each kind of stack.

    Args:
        norms: name of the stack to the norms of its layers, in order.
        title: title of the figure.
        limits: lower and upper end of the axis. Smaller norms are drawn at the lower
            end.

    Returns:
        The picture, with a logarithmic axis.
    """
    picture, axes = new_picture(6.8, 3.8)
    least = limits[0] if limits else 0.0
    for place, (name, values) in enumerate(norms.items()):
        layers = range(1, len(values) + 1)
        axes.plot(
            layers,
            [max(value, least) for value in values],
            label=name,
            linestyle=LINES[place % len(LINES)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=4,
            markevery=max(1, len(values) // 6),
        )
    axes.set_yscale("log")
    if limits:
        axes.set_ylim(*limits)
    axes.set(title=title, xlabel="layer (1 = first)", ylabel="norm of the gradient")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return picture


@rc_context(STYLE)
def losses_by_step(
    losses: Mapping[str, Sequence[float]], title: str, chance: float, width: int = 10
) -> Picture:
    """Draw the smoothed loss of several runs, and the loss of random guessing.

    Args:
        losses: name of the run to the loss of each step.
        title: title of the figure.
        chance: the loss of random guessing, in nats; drawn as a line.
        width: number of steps that are averaged.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.8, 3.6)
    axes.axhline(chance, color=GREY, linewidth=1.0, linestyle=":")
    last = max(map(len, losses.values()))
    axes.text(last, chance, "guessing", va="bottom", ha="right", fontsize=9)
    for place, (name, values) in enumerate(losses.items()):
        starts = range(0, len(values) - width + 1, width)
        means = [sum(values[start : start + width]) / width for start in starts]
        middles = [start + width / 2 for start in starts]
        axes.plot(
            middles,
            means,
            label=name,
            linestyle=LINES[place % len(LINES)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=4,
            markevery=3,
        )
    axes.set_ylim(bottom=-0.03)
    axes.set(title=title, xlabel="training step", ylabel="loss (nats)")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return picture
