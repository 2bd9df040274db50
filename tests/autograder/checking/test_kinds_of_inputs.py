"""Axes, masks, precision and padding: only wrong code fails the shared checks."""

import math
from functools import partial

import pytest
import torch

from autograder.checking.expect import CheckFailed
from autograder.checking.failures import StudentError
from autograder.checking.kinds_of_inputs import (
    FEW_DIGITS,
    ROUNDED,
    close_rows,
    expect_double,
    expect_every_mask,
    expect_half,
    expect_leading_axes,
    masks_of_every_kind,
    rows_far_apart,
)
from autograder.checking.random_inputs import Draw

DRAW = Draw("unit", "check")


def mistake_of(run) -> str | None:
    with pytest.raises(CheckFailed) as caught:
        run()
    return caught.value.mistake or caught.value.guess


def right(q, k):
    return q @ k.mT


def as_student(function):
    """Convert an error of a function into the error of a student."""

    def call(*args):
        try:
            return function(*args)
        except Exception as error:
            raise StudentError("raised", "f", f"f raised {error}") from error

    return call


@pytest.mark.parametrize(
    "wrong",
    [
        lambda q, k: torch.einsum("bhtd,bhsd->bhts", q, k),
        lambda q, k: q @ k.transpose(2, 3),
        lambda q, k: torch.bmm(q.flatten(0, 1), k.flatten(0, 1).mT).unflatten(
            0, q.shape[:2]
        ),
    ],
)
def test_code_that_counts_the_axes_is_found(wrong):
    tails = [(4, 6), (5, 6)]
    expect_leading_axes(right, right, tails, DRAW, "the result")
    run = partial(expect_leading_axes, as_student(wrong), right, tails, DRAW)
    assert mistake_of(partial(run, "the result")) == (
        "code that assumes 2 axes in front"
    )


def test_code_that_is_wrong_anyhow_is_not_said_to_count_axes():
    run = partial(
        expect_leading_axes, lambda q, k: 2 * q @ k.mT, right, [(4, 6), (5, 6)], DRAW
    )
    assert mistake_of(partial(run, "the result")) is None


def test_a_mask_of_each_shape_is_tried():
    scores = DRAW.normal(2, 3, 4, 5)
    masks = masks_of_every_kind(DRAW, 2, 3, 4, 5)

    def hide(mask):
        return scores.masked_fill(~mask, 0.0)

    expect_every_mask(hide, hide, masks, "the result")
    for wrong, words in (
        (lambda m: hide(m[:, :1] if m.dim() == 4 else m), "one for each head"),
        (lambda m: hide(m.repeat(1, 3, 1, 1)), "one for each head"),
        (lambda m: hide(m if m.dim() == 4 else m[0, 0]), "without a batch"),
    ):
        call = as_student(wrong)
        run = partial(expect_every_mask, call, hide, masks, "the result")
        assert words in str(mistake_of(run))
    run = partial(expect_every_mask, lambda m: hide(m[:1]), hide, masks, "the result")
    assert mistake_of(run) is None  # wrong even with the usual mask


def test_numbers_that_are_rounded_on_the_way_are_found():
    x = DRAW.normal(3, 4)
    expect_double(torch.exp, torch.exp, [x], "the result")
    run = partial(expect_double, right=torch.exp, inputs=[x], what="the result")
    assert mistake_of(partial(run, lambda x: x.float().exp().double())) == ROUNDED
    assert mistake_of(partial(run, lambda x: x.float().exp())) == "a fixed dtype"
    assert mistake_of(partial(run, lambda x: x.exp() + 1)) is None
    few_digits = partial(run, lambda x: x.exp() * (1 + 1e-8))
    assert mistake_of(few_digits) == FEW_DIGITS
    few_digits(tolerance=None)


def test_half_precision_is_tried():
    x = DRAW.normal(3, 4)
    expect_half(torch.tanh, torch.tanh, [x], "the result")
    run = partial(expect_half, right=torch.tanh, inputs=[x], what="the result")
    assert "float16" in str(mistake_of(partial(run, lambda x: x.tanh() + 1e6)))
    assert mistake_of(partial(run, lambda x: x.float().tanh())) == "a fixed dtype"


def test_rows_lie_too_far_apart_for_one_largest_score():
    scores = rows_far_apart(DRAW, 2, 4, 5)
    shifted = (scores - scores.max()).exp()
    assert (shifted.sum(-1) == 0).any()
    want = scores.double().softmax(-1).float()
    assert torch.allclose(scores.softmax(-1), want, atol=1e-5)


def test_rows_are_closed_in_a_copy():
    mask = torch.ones(2, 1, 4, 5, dtype=torch.bool)
    closed = close_rows(mask, 2)
    assert mask.all()
    assert not closed[1, :, :2].any()
    assert closed[0].all()
    assert closed[1, :, 2:].all()


@pytest.mark.parametrize("seed", range(20))
def test_padding_stands_in_every_place(seed):
    draw = Draw("unit", "check", seed)
    lengths = draw.lengths(4, 7)
    assert lengths.max() == 6
    assert lengths.min() >= 1
    assert lengths.tolist() != sorted(lengths, reverse=True)
    ids = draw.padded_ids(4, 7, pad_id=9, low=10)
    padded = {words: tensor == 9 for words, tensor in ids.items()}
    assert next(iter(padded)) == "padding after the words"
    assert (padded["padding after the words"][:, -1]).all()
    assert (padded["padding before the words"][:, 0]).all()
    assert not padded["padding before the words"][:, -1].any()
    assert padded["a column of padding"].all(0)[:-1].any()
    assert padded["a row of padding"].all(1)[1:].any()
    assert not padded["no padding"].any()
    between = padded["padding between words"]
    assert between.any(1).all()
    assert not between.all(1).any()
    assert math.prod(between.shape) == 28
