"""The figures of unit 04 show their data."""

import pytest
import torch

from transformer.plots.attention import (
    ScaleRuns,
    WidthSweep,
    entropy_against_width,
    losses_with_and_without_scale,
    weights_of_one_query,
)


def test_entropy_is_drawn_against_width() -> None:
    sweep = WidthSweep([4, 16], [2.4, 2.3], [2.0, 0.7])
    (axes,) = entropy_against_width(sweep, highest=2.77).axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn["divided by √d_k"] == [2.4, 2.3]
    assert drawn["not divided"] == [2.0, 0.7]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["4", "16"]


def test_both_kinds_of_weights_are_drawn() -> None:
    scaled, unscaled = torch.tensor([0.25, 0.75]), torch.tensor([0.1, 0.9])
    picture = weights_of_one_query(scaled, unscaled, d_k=64)
    (axes,) = picture.axes
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == pytest.approx([0.25, 0.75, 0.1, 0.9])
    assert "d_k = 64" in axes.get_title(loc="left")
    assert picture._repr_svg_().lstrip().startswith("<?xml")


def test_each_learning_rate_has_a_panel_with_the_losses_of_its_runs() -> None:
    runs = {
        "slow": ScaleRuns([[3.0, 1.0], [2.0, 0.0]], [[3.0, 3.0]]),
        "fast": ScaleRuns([[4.0, 0.0]], [[2.0, 2.0]]),
    }
    picture = losses_with_and_without_scale(runs, chance=2.77)
    for panels in (picture.axes, picture.narrow_picture.axes):
        drawn = {
            axes.get_title(loc="left"): [line.get_ydata() for line in axes.lines[1:]]
            for axes in panels
        }
        assert list(drawn) == ["slow", "fast"]
        means = [[3.0, 2.0], [2.0, 1.0], [3.0, 3.0]]
        assert [list(losses) for losses in drawn["slow"]] == means
        (legend,) = {tuple(t.get_text() for t in a.get_legend().texts) for a in panels}
        assert legend == ("divided by √d_k", "not divided")
