"""The figure of unit 09 shows its data."""

import pytest
import torch

from transformer.plots.decoder import attention_on_gold


def test_gold_pairs_are_framed_where_they_stand() -> None:
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    source, target = ["ruft", "den", "an"], ["calls", "him"]
    picture = attention_on_gold(weights, [(0, 0), (2, 0)], target, source, "Look")
    axes = picture.axes[0]
    centres = [tuple(frame.get_center()) for frame in axes.patches]
    assert centres == [pytest.approx((0, 0)), pytest.approx((2, 0))]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == target
    assert axes.get_title(loc="left") == "Look"
    assert picture._repr_svg_().lstrip().startswith("<?xml")
