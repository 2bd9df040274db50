"""The figures of unit 04 show what they are given."""

import pytest
import torch

from transformer.plots.attention import (
    WidthSweep,
    entropy_against_width,
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
