"""Figures of the book's appendix on speed and scores."""

from collections.abc import Mapping, Sequence

from matplotlib import rc_context

from transformer.plots.style import BLACK, BLUE, ORANGE, STYLE, Picture, new_picture

WIDTH, ROW = 7.2, 0.62
LABEL = 1.7  # the text of a number ends at this multiple of its bar's length


@rc_context(STYLE)
def speed_bars(
    ratios: Mapping[str, float], targets: Mapping[str, float] | None = None
) -> Picture:
    """Draw the speed of each part relative to its reference, on a logarithmic scale.

    Args:
        ratios: the relative speed of each part, above 0, drawn from top to bottom.
        targets: the target speeds of some of the parts.

    Returns:
        The picture.

    Raises:
        ValueError: if there is no part, or a ratio is not above 0.
    """
    if not ratios or min(ratios.values()) <= 0:
        raise ValueError(f"expected ratios above 0, found {dict(ratios)}")
    names, values = list(ratios), list(ratios.values())
    places = range(len(names))
    picture, axes = new_picture(WIDTH, 1.1 + ROW * len(names))
    axes.barh(places, values, 0.6, color=BLUE)
    targets = targets or {}
    for place, (name, value) in enumerate(ratios.items()):
        mark = targets.get(name, value)
        end = mark if value < mark < LABEL * value else value  # not on the mark
        axes.text(1.08 * end, place, f" {value:.3g}", va="center", color=BLACK)
    marked = [(names.index(name), value) for name, value in targets.items()]
    if marked:
        rows, least = zip(*marked, strict=True)
        axes.plot(least, rows, "|", ms=22, mew=2.5, color=ORANGE, label="to be reached")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0))
    axes.axvline(1.0, color=BLACK, linewidth=1, linestyle=":")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(0.7 * min(0.8, *values), 2.6 * max(values))
    axes.set_xlabel("times as fast as the peer (logarithmic)")
    return picture


@rc_context(STYLE)
def validation_curves(logs: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the validation perplexity of several runs after each epoch.

    Args:
        logs: the perplexities of each run from epoch 1 on, by the run's name.

    Returns:
        The picture.

    Raises:
        ValueError: if there is no run, or a run has no epoch.
    """
    if not logs or not all(logs.values()):
        raise ValueError("expected runs of at least one epoch each")
    picture, axes = new_picture()
    styles = zip((ORANGE, BLUE, BLACK), ("s-", "o-", "^-"), strict=True)
    for (name, values), (colour, style) in zip(logs.items(), styles, strict=False):
        epochs = range(1, len(values) + 1)
        axes.plot(epochs, values, style, color=colour, label=name)
    axes.set_yscale("log")
    axes.set(xlabel="epoch", ylabel="perplexity of validation (logarithmic)")
    axes.legend()
    return picture
