"""The figures and the experiments of unit 06 run, and show their data."""

import pytest
import torch
from torch import nn

from transformer.experiments.deep_stack import (
    ParitySettings,
    draw_weights,
    gradient_norms,
    likeness,
)
from transformer.feed_forward import AddNorm, PositionwiseFeedForward
from transformer.plots.feed_forward import gradient_by_layer, losses_by_step


class Block(nn.Module):
    def __init__(self, norm_first: bool) -> None:
        super().__init__()
        self.add_norm = AddNorm(16, norm_first=norm_first)
        self.feed_forward = PositionwiseFeedForward(16, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.add_norm(x, self.feed_forward)


def fresh_stack(layers: list[nn.Module]) -> list[nn.Module]:
    torch.manual_seed(0)
    draw_weights(layers)
    return layers


@pytest.mark.integration
def test_a_line_for_each_stack_with_a_name():
    norms = {"post-norm": [1.0, 2.0, 3.0], "neither": [1e-30, 1e-3, 1.0]}
    picture = gradient_by_layer(norms, "Gradients", limits=(1e-6, 1e6))
    assert "<svg" in picture._repr_svg_()
    (axes,) = picture.axes
    assert axes.get_yscale() == "log"
    assert [line.get_label() for line in axes.lines] == list(norms)
    assert axes.lines[1].get_ydata()[0] == 1e-6  # at the edge, not outside


def test_losses_are_means_of_a_few_steps():
    picture = losses_by_step({"run": [1.0, 3.0, 5.0, 7.0]}, "Losses", 0.69, width=2)
    assert "<svg" in picture._repr_svg_()
    assert list(picture.axes[0].lines[-1].get_ydata()) == [2.0, 6.0]


def test_without_a_residual_the_gradient_fades():
    plain = fresh_stack([PositionwiseFeedForward(16, 32) for _ in range(20)])
    pre_norm = fresh_stack([Block(True) for _ in range(20)])
    x = torch.randn(4, 3, 16)
    faded, kept = gradient_norms(plain, x), gradient_norms(pre_norm, x)
    assert len(faded) == 20
    assert faded[0] < 0.01 * faded[-1]
    assert kept[0] > kept[-1]


def test_likeness_is_a_mean_cosine():
    same = torch.randn(1, 8).expand(6, 8)
    assert likeness(same) == pytest.approx(1.0)
    assert likeness(torch.eye(6)) == pytest.approx(0.0)


def test_the_rate_rises_over_the_warm_up():
    settings = ParitySettings(warmup=4, learning_rate=1.0)
    assert [settings.rate(step) for step in range(6)] == [0.25, 0.5, 0.75, 1, 1, 1]
    assert ParitySettings(learning_rate=1.0).rate(0) == 1.0
