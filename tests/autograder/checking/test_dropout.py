"""The checks measure dropout with bounds that right code meets with every seed."""

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.dropout import expect_dropped, weights_seen_through
from autograder.checking.expect import CheckFailed

SHAPE = (2, 3, 50, 8)
RIGHT = torch.rand(SHAPE, generator=torch.Generator().manual_seed(1)) + 0.1


def keep(share: float, scale: float, shape=SHAPE):
    return RIGHT * (torch.rand(shape) < share) * scale


def mistake_of(used, p: float = 0.2, **more) -> str | None:
    with pytest.raises(CheckFailed) as caught:
        expect_dropped(used, RIGHT, p, "the weights", **more)
    return caught.value.mistake


@pytest.mark.parametrize("p", [0.1, 0.2, 0.7])
def test_right_dropout_passes_at_every_seed(p):
    axes = {"sentence": 0, "head": 1, "query": 2}
    for seed in range(100):
        torch.manual_seed(seed)
        used, again = F.dropout(RIGHT, p), F.dropout(RIGHT, p)
        expect_dropped(used, RIGHT, p, "the weights", axes, again)


@pytest.mark.parametrize(
    ("used", "mistake"),
    [
        (lambda: RIGHT, "dropout is ignored"),
        (lambda: keep(0.2, 1.25), "keeps the share it should drop"),
        (lambda: keep(0.2, 5), "keeps the share it should drop"),
        (lambda: keep(0.5, 2), "a different share dropped"),
        (lambda: keep(0.75, 4 / 3), "a different share dropped"),
        (lambda: keep(0.8, 1), "without the division by 1 - p"),
        (lambda: keep(0.8, 5), "divided by p instead"),
        (lambda: keep(0.8, 0.8), "multiplied by 1 - p"),
    ],
)
def test_each_mistake_is_named(used, mistake):
    torch.manual_seed(3)
    assert mistake in str(mistake_of(used()))


def test_the_same_pattern_is_found():
    torch.manual_seed(3)
    for_all_heads = keep(0.8, 1.25, (2, 1, 50, 8))
    named = mistake_of(for_all_heads, axes={"sentence": 0, "head": 1})
    assert named == "dropout that is the same for every head"
    used = F.dropout(RIGHT, 0.2)
    again = mistake_of(used, again=used.clone())
    assert again == "the same numbers dropped in every call"


def test_numbers_that_were_zero_do_not_count():
    masked = RIGHT.clone()
    masked[..., 4:] = 0
    torch.manual_seed(3)
    expect_dropped(F.dropout(masked, 0.2), masked, 0.2, "the weights")


def test_too_few_numbers_are_refused():
    few = torch.ones(5)
    with pytest.raises(ValueError, match="too few: draw more"):
        expect_dropped(few, few, 0.2, "the weights")
    flat = torch.ones(2, 500, 2)
    torch.manual_seed(3)
    with pytest.raises(ValueError, match="too few to compare"):
        expect_dropped(F.dropout(flat, 0.01), flat, 0.01, "it", axes={"row": 0})


def test_attention_shows_its_weights_through_the_identity():
    weights = RIGHT / RIGHT.sum(-1, keepdim=True)
    seen = weights @ weights_seen_through(8, 2, 3)
    assert torch.equal(seen, weights)
