"""Inputs of every size and kind, and the answers that are wrong for one of them."""

from itertools import combinations

import pytest
import torch
from torch import nn

from autograder.checking.failures import CheckFailed
from autograder.checking.random_inputs import Draw
from autograder.checking.varied_inputs import (
    SOME_SIZES,
    expect_every_size,
    expect_modules_of_every_size,
    orders_of,
    varied_inputs,
)
from autograder.sandbox import LocalStudent

DOUBLE = """
import torch

def double(x, mask):
    wrong = {condition}
    return 2 * x * mask + wrong
"""
LAYER = """
from torch import nn

class Layer(nn.Linear):
    def forward(self, x):
        return super().forward(x) + ({condition})
"""


def inputs(draw: Draw):
    return varied_inputs(draw, ["b,t,s"], ["t,s"])


def double(x, mask):
    return 2 * x * mask


def guess_for(condition: str) -> str | None:
    """Return the guess about an answer that is wrong under a condition."""
    student, draw = LocalStudent([DOUBLE.format(condition=condition)]), Draw("u", "c")
    with pytest.raises(CheckFailed) as caught:
        expect_every_size(student, student.double, double, inputs(draw), "the result")
    return caught.value.guess


def test_each_size_is_below_at_and_above_each_other_size():
    sets = orders_of(["b", "h", "t", "s", "d_k"]).values()
    for one, other in combinations(["b", "h", "t", "s", "d_k"], 2):
        found = {(x[one] > x[other]) - (x[one] < x[other]) for x in sets}
        assert found == {-1, 0, 1}, (one, other)


def test_a_right_answer_passes():
    student, draw = LocalStudent([DOUBLE.format(condition="0")]), Draw("u", "c")
    expect_every_size(student, student.double, double, inputs(draw), "the result")


@pytest.mark.parametrize(
    "condition",
    [
        "x.size(1) > x.size(2)",
        "x.size(1) == x.size(2)",
        "x.size(2) > 64",
        "x.size(0) > 8",
        "x.size(1) == 1",
        "(x > 0).all()",
        "(x == 0).any()",
        "x.abs().max() > 100",
        "mask.all()",
        "not mask.any()",
        "not x.is_contiguous()",
        "x.size(0) > 1 and torch.equal(x[:1].expand_as(x), x)",
    ],
)
def test_an_answer_that_is_wrong_under_one_condition_fails_with_a_guess(condition):
    assert guess_for(condition) == SOME_SIZES


def test_an_answer_that_is_wrong_without_gradients_fails():
    guess_for("not torch.is_grad_enabled()")


@pytest.mark.parametrize("condition", ["self.training", "not self.training"])
def test_a_module_must_be_right_in_both_modes(condition):
    student, draw = LocalStudent([LAYER.format(condition=condition)]), Draw("u", "c")
    with pytest.raises(CheckFailed):
        expect_modules_of_every_size(
            student,
            lambda n: (student.Layer(n["d"], n["d"]), nn.Linear(n["d"], n["d"])),
            varied_inputs(draw, ["b,t,d"]),
            draw,
            "the result",
        )


def test_inputs_are_the_same_for_every_student():
    first, second = (list(inputs(Draw("u", "c"))) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert all(map(torch.equal, one.inputs, other.inputs))
