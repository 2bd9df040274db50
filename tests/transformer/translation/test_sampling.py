"""Draws of the next word follow the temperature, top-k and top-p."""

import pytest
import torch

from transformer.translation.sampling import sample_word, sampling_probabilities
from transformer.translation.sampling_settings import SamplingSettings

P = torch.tensor([0.1, 0.4, 0.2, 0.3], dtype=torch.float64)


def left(**settings: float) -> list[float]:
    return sampling_probabilities(P.log(), SamplingSettings(**settings)).tolist()


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, [1, 4, 2, 3]),
        ({"temperature": 0.5}, [1, 16, 4, 9]),
        ({"temperature": 0}, [0, 1, 0, 0]),
        ({"top_k": 2}, [0, 4, 0, 3]),
        ({"top_k": 9}, [1, 4, 2, 3]),
        ({"top_p": 0.65}, [0, 4, 0, 3]),
        ({"top_p": 0.01}, [0, 1, 0, 0]),
        ({"top_k": 3, "top_p": 0.75}, [0, 4, 0, 3]),  # of 0.9 that are left
        ({"top_p": 0.75}, [0, 4, 2, 3]),
        ({"temperature": 0, "top_k": 3, "top_p": 0.9}, [0, 1, 0, 0]),
    ],
)
def test_what_is_left(settings: dict[str, float], wanted: list[float]) -> None:
    assert left(**settings) == pytest.approx([w / sum(wanted) for w in wanted])


def test_of_equal_words_the_smaller_numbers_stay() -> None:
    equal = torch.tensor([0.0, 1.0, 1.0, 1.0])
    for settings in (SamplingSettings(top_k=2), SamplingSettings(top_p=0.5)):
        assert sampling_probabilities(equal, settings).tolist() == [0, 0.5, 0.5, 0]
    found = sampling_probabilities(equal, SamplingSettings(0))
    assert found.tolist() == [0, 1, 0, 0]


def test_without_a_cut_it_is_the_softmax() -> None:
    logits = torch.randn(2, 3, 20, generator=torch.Generator().manual_seed(0))
    found = sampling_probabilities(logits, SamplingSettings(0.7))
    assert torch.allclose(found, (logits / 0.7).softmax(dim=-1))
    far = sampling_probabilities(torch.tensor([0.0, -40.0]), SamplingSettings())
    assert (far > 0).all()


def test_words_are_drawn_as_often_as_they_are_probable() -> None:
    logits = P.log().expand(50_000, 4)
    chance = torch.Generator().manual_seed(0)
    drawn = sample_word(logits, SamplingSettings(top_k=3), chance)
    shares = drawn.bincount(minlength=4) / len(drawn)
    assert shares.tolist() == pytest.approx([0, 4 / 9, 2 / 9, 3 / 9], abs=0.01)
    again = sample_word(logits, SamplingSettings(top_k=3), chance.manual_seed(0))
    assert torch.equal(drawn, again)


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"top_k": 0}, {"top_p": 0}, {"top_p": 1.1}]
)
def test_settings_that_leave_no_word_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected temperature >= 0"):
        SamplingSettings(**wrong)
