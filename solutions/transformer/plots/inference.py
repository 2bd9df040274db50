"""Figures of inference: the steps of a beam search, and times with a cache."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.axes import Axes

from transformer.plots.style import BLUE, ORANGE, STYLE, Picture, new_picture
from transformer.translation.beams import Branch, Words

PALE = "#8a8a8a"
Point = tuple[float, float]


@dataclass(frozen=True)
class TimeByPosition:
    """Hold the milliseconds for writing one token, by its position.

    Attributes:
        positions: positions of the tokens.
        plain: milliseconds without a cache.
        cached: milliseconds with a cache.
    """

    positions: Sequence[int]
    plain: Sequence[float]
    cached: Sequence[float]


def heights(tree: Sequence[Branch]) -> dict[Words, float]:
    """Return a height for each branch, the mean of its continuations' heights."""
    inner = {branch.words[:-1] for branch in tree}
    leaves = [branch.words for branch in tree if branch.words not in inner]
    order = {branch.words: number for number, branch in enumerate(tree)}

    def path(words: Words) -> list[int]:
        return [order.get(words[: n + 1], 0) for n in range(len(words))]

    placed = {words: -float(row) for row, words in enumerate(sorted(leaves, key=path))}
    for words in sorted((b.words for b in tree if b.words in inner), key=len)[::-1]:
        grown = [y for key, y in placed.items() if key[:-1] == words]
        placed[words] = sum(grown) / len(grown)
    return placed


def _draw_branch(axes: Axes, branch: Branch, at: Point, decided: bool) -> None:
    kept = branch.kept or not decided
    axes.text(
        *at,
        f"{branch.words[-1]}\n{branch.probability:.3f}",
        ha="center",
        va="center",
        fontsize=8,
        color="black" if kept else PALE,
        bbox={
            "boxstyle": "round,pad=0.25",
            "facecolor": "#d6e8f5" if branch.kept and decided else "white",
            "edgecolor": BLUE if kept else PALE,
            "linestyle": "-" if kept else ":",
            "linewidth": 1.6 if branch.kept and decided else 0.9,
        },
    )


def beam_tree(
    tree: Sequence[Branch], step: int, greedy: Words, decided: bool = True
) -> Picture:
    """Draw all branches that a beam search has considered after some steps.

    Args:
        tree: all branches of the whole search, in the order of their steps.
        step: number of words written; longer branches are not drawn.
        greedy: the words that greedy search writes, drawn as an orange path.
        decided: whether the branches of the last step are already pruned.

    Returns:
        The picture, whose size does not depend on `step`. The tree grows to the right,
            and on a phone downwards.
    """
    grown = [branch for branch in tree if len(branch.words) <= step]
    cut = {branch.words for branch in grown if decided or len(branch.words) < step}
    place = heights(tree)
    across = {words: (float(len(words)), y) for words, y in place.items()}
    down = {words: (-y, -float(len(words))) for words, y in place.items()}
    picture = _draw_tree((8.6, 4.2), across, grown, cut, greedy)
    picture.axes[0].set_xlabel("word")
    picture.narrow_picture = _draw_tree((3.9, 5.6), down, grown, cut, greedy)
    picture.narrow_picture.axes[0].set_axis_off()
    return picture


@rc_context(STYLE)
def _draw_tree(
    size: Point,
    place: dict[Words, Point],
    grown: Sequence[Branch],
    cut: set[Words],
    greedy: Words,
) -> Picture:
    picture, axes = new_picture(*size)
    for branch in grown:
        words, at = branch.words, place[branch.words]
        on_path = greedy[: len(words)] == words
        if len(words) > 1:
            ends = zip(place.get(words[:-1], at), at, strict=True)
            axes.plot(
                *ends,
                color=ORANGE if on_path else BLUE,
                linestyle="--" if on_path else "-",
                linewidth=2.4 if on_path else 1.2,
                zorder=0,
            )
        _draw_branch(axes, branch, at, words in cut)
    across, up = zip(*place.values(), strict=True)
    axes.set_xlim(min(across) - 0.6, max(across) + 0.6)
    axes.set_ylim(min(up) - 0.6, max(up) + 0.6)
    axes.set_yticks([])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    axes.set(title="Kept: blue. Cut: dotted. Greedy: dashes")
    return picture


@rc_context(STYLE)
def time_by_position(time: TimeByPosition) -> Picture:
    """Draw how long it takes to write the next token, with and without the cache.

    Args:
        time: milliseconds by position.

    Returns:
        The picture.
    """
    picture, axes = new_picture(6.0, 3.2)
    axes.plot(time.positions, time.plain, marker="s", color=ORANGE, label="no cache")
    axes.plot(time.positions, time.cached, marker="o", color=BLUE, label="cache")
    axes.set_ylim(bottom=0)
    axes.set(
        title="What the next token costs",
        xlabel="tokens written before it",
        ylabel="milliseconds",
    )
    axes.legend(loc="upper left")
    return picture
