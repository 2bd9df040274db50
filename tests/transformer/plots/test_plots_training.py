"""The figures of unit 10 show their data."""

import numpy as np
import pytest
import torch

from transformer.plots.training import (
    RunCurve,
    losses_and_bleu,
    progress,
    schedules,
    smooth,
    smoothed_loss,
    smoothing_curve,
)
from transformer.training.label_smoothing import label_smoothed_loss


def test_smooth_is_a_mean_of_what_came_before() -> None:
    values = np.random.default_rng(0).normal(size=40)
    found = smooth(values, width=15)
    for i in range(40):
        assert found[i] == pytest.approx(values[max(0, i - 14) : i + 1].mean())


def test_each_run_is_drawn_with_its_bleu() -> None:
    runs = {"right": RunCurve([4.0, 3.0], 12.3), "wrong": RunCurve([2.0, 1.0], 0.0)}
    (axes,) = losses_and_bleu(runs).axes
    assert [list(line.get_ydata()) for line in axes.lines] == [[4.0, 3.5], [2.0, 1.5]]
    texts = [text.get_text().strip() for text in axes.texts]
    assert texts == ["right: BLEU 12.3", "wrong: BLEU 0.0"]
    assert len({line.get_color() for line in axes.lines}) == 2
    assert len({line.get_linestyle() for line in axes.lines}) == 2


def test_schedules_are_drawn_from_step_0() -> None:
    (axes,) = schedules({"a": [0.0, 1.0, 0.5]}).axes
    (line,) = axes.lines
    assert list(line.get_xdata()) == [0, 1, 2]
    assert list(line.get_ydata()) == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_the_curve_is_the_loss_that_is_taught(smoothing: float) -> None:
    margins = torch.linspace(0, 20, 7, dtype=torch.float64)
    logits = torch.zeros(7, 1, 50, dtype=torch.float64)
    logits[:, 0, 4] = margins
    target = torch.full((1, 1), 4)
    expected = [label_smoothed_loss(row[None], target, 1, smoothing) for row in logits]
    found = smoothed_loss(margins.numpy(), smoothing, 50)
    assert found == pytest.approx([loss.item() for loss in expected], rel=1e-9)


def test_the_mark_stands_where_the_softmax_equals_the_label() -> None:
    (axes,) = smoothing_curve(0.1, n_words=300).axes
    _, mark = axes.lines
    wanted = 0.9 + 0.1 / 300
    lead = np.log(wanted / (0.1 / 300))
    assert mark.get_xdata()[0] == pytest.approx(lead, abs=0.02)
    assert f"p = {wanted:.2f}" in axes.get_title(loc="left")
    assert len(smoothing_curve(0.0, n_words=300).axes[0].lines) == 1


def test_progress_shows_both_losses() -> None:
    history = [
        {"epoch": 1, "train_loss": 5.0, "valid_loss": 4.0},
        {"epoch": 2, "train_loss": 3.0, "valid_loss": 2.0},
    ]
    picture = progress(history)
    drawn = [list(line.get_ydata()) for line in picture.axes[0].lines]
    assert drawn == [[5.0, 3.0], [4.0, 2.0]]
    assert picture._repr_svg_().lstrip().startswith("<?xml")
