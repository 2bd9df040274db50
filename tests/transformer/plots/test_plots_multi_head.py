"""The figures and the experiment of unit 05 run, and refuse data that do not fit."""

import pytest
import torch
from torch import nn

from transformer.experiments.fitting import FitSettings
from transformer.experiments.look_up import (
    LookUpModel,
    LookUpTask,
    look_up_losses,
    train_look_up,
)
from transformer.multi_head import MultiHeadAttention
from transformer.plots.multi_head import heads_side_by_side, splits_of

WORDS = ["die", "frau", "ruft"]


def texts(picture) -> list[str]:
    return [text.get_text() for text in picture.axes[0].texts]


@pytest.mark.parametrize("follow", [0, 1, 2])
def test_the_numbers_of_every_word_are_drawn_five_times(follow):
    picture = splits_of(WORDS, follow)
    assert "<svg" in picture._repr_svg_()
    assert texts(picture).count(f"{WORDS[follow]} 3") == 5


@pytest.mark.integration
def test_each_head_has_a_map_of_its_own():
    picture = heads_side_by_side(torch.rand(4, 3, 3), WORDS, "Four heads")
    assert "<svg" in picture._repr_svg_()
    assert [axes.get_title(loc="left") for axes in picture.axes[:4]] == [
        f"head {number}" for number in (1, 2, 3, 4)
    ]


def test_weights_for_other_words_are_refused():
    with pytest.raises(ValueError, match=r"expected weights of \(h, 3, 3\)"):
        heads_side_by_side(torch.rand(4, 3, 5), WORDS, "Four heads")


def test_a_word_asks_for_the_words_at_its_distances():
    task = LookUpTask(n_words=9, length=4, distances=(-1, 2))
    answers = task.answers(torch.tensor([[5, 6, 7, 8]]))
    assert answers.tolist() == [[[8, 7], [5, 8], [6, 5], [7, 6]]]


@pytest.mark.integration
def test_three_questions_need_more_than_one_head():
    task = LookUpTask(n_words=8, length=6, distances=(-1, 1, 2))
    right = {}
    for n_heads in (1, 4):
        torch.manual_seed(0)
        model = LookUpModel(MultiHeadAttention(32, n_heads), 32, task)
        right[n_heads] = min(train_look_up(model, task, steps=250))
    assert right[4] > 0.95
    assert right[1] < 0.7


def test_the_losses_fall_and_depend_on_the_seed_only():
    task = LookUpTask(n_words=4, length=4, distances=(-1,))

    def losses(seed: int) -> list[float]:
        torch.manual_seed(0)
        model = LookUpModel(MultiHeadAttention(16, 1), 16, task)
        return look_up_losses(model, task, FitSettings(steps=60, seed=seed))

    first = losses(0)
    assert len(first) == 60
    assert sum(first[-10:]) < 0.9 * sum(first[:10])
    assert losses(0) == first != losses(1)


def test_the_model_takes_any_attention():
    class Copy(nn.Module):
        def forward(self, query, key, value):
            return value, None

    task = LookUpTask(n_words=8, length=6, distances=(-1, 1, 2))
    logits, _ = LookUpModel(Copy(), 16, task)(torch.zeros(2, 6, dtype=torch.long))
    assert logits.shape == (2, 6, 3, 8)
