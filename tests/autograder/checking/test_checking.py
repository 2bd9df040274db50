"""Expectations describe a mistake in words, and reveal nothing that a check hides."""

import pytest
import torch

from autograder.checking.expect import (
    CheckFailed,
    check,
    expect_close,
    expect_equal,
    expect_no_call,
    expect_shape,
)
from autograder.checking.random_inputs import Draw
from autograder.sandbox import LocalStudent

EXPECTED = torch.tensor([[1.25, 2.5], [3.75, 6.125]], dtype=torch.float64)


def words(function, *args, **kwargs):
    with pytest.raises(CheckFailed) as caught:
        function(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (None, "scores should be a tensor, but it is None (is a `return` missing?)."),
        ((1, 2), "scores should be a tensor, but it is a tuple of 2."),
        (EXPECTED[0], "should have the shape (2, 2), but it has (2,)."),
        (EXPECTED + 1, "has the right shape (2, 2), but 4 of its 4 values are wrong"),
        (EXPECTED / 0, "scores holds infinity in 4 of 4 places."),
        (EXPECTED * float("nan"), "scores holds NaN in 4 of 4 places."),
        (EXPECTED + 0j, "scores should hold real numbers, but it is torch.complex128"),
    ],
)
def test_a_difference_is_said_without_the_expected_values(actual, said):
    failure = words(expect_close, actual, EXPECTED, "scores")
    assert said in failure.message
    for secret in ("1.25", "6.125", "3.75"):
        assert secret not in failure.message


@pytest.mark.parametrize("actual", [0.33, torch.tensor(0.33)])
def test_a_number_is_not_said_to_have_a_shape(actual):
    failure = words(expect_close, actual, 0.25, "The rate")
    assert failure.message == "The rate is a number, but not the one expected."


def test_equal_values_pass_in_any_dtype_and_to_the_tolerance():
    expect_close(EXPECTED.float(), EXPECTED, "scores")
    expect_close(EXPECTED.float() + 5e-6, EXPECTED, "scores")
    expect_close(2.5, torch.tensor(2.5), "loss")
    expect_close(torch.tensor([True]), torch.tensor([1.0]), "mask")
    both_nan = torch.tensor([float("nan"), float("-inf")])
    expect_close(both_nan, both_nan.clone(), "logits")
    assert "loss" in words(expect_close, True, torch.tensor(1.0), "loss").message


def test_the_mistake_is_named_and_a_broken_one_is_passed_over():
    mistakes = {
        "a broken guess": lambda: 1 / 0,
        "another shape": torch.ones(3),
        "twice the result": lambda: 2 * EXPECTED,
    }
    failure = words(expect_close, 2 * EXPECTED, EXPECTED, "scores", mistakes)
    assert failure.message == "scores should not equal twice the result."
    assert failure.mistake == "twice the result"
    assert words(expect_close, 3 * EXPECTED, EXPECTED, "x", mistakes).mistake is None


def test_exact_expectations():
    expect_equal([1, (2.0, "a")], (1, [2.0, "a"]), "the pair")
    expect_equal({"a": torch.tensor([1])}, {"a": torch.tensor([1])}, "the table")
    expect_equal(torch.tensor([True, False]), torch.tensor([True, False]), "the mask")
    ints = torch.tensor([1, 0])
    said = words(expect_equal, ints, torch.tensor([True, False]), "the mask").message
    assert said == "The mask should hold bools, not torch.int64."
    said = words(expect_equal, 3, 4, "the count").message
    assert said == "The count is a number, but not the one expected."
    assert "not the expected one" in words(expect_equal, "a", "b", "the word").message
    assert "is True" not in words(expect_equal, True, 1, "the count").message
    failure = words(expect_equal, 3, 4, "the count", {"one too few": 3})
    assert failure.mistake == "one too few"


def test_shapes():
    expect_shape(EXPECTED, (2, 2), "scores")
    said = words(expect_shape, EXPECTED, (2, 3), "scores").message
    assert said == "scores should have the shape (2, 3), but it has (2, 2)."


def test_a_check_without_share_or_title_is_refused():
    with pytest.raises(ValueError, match="share must be positive"):
        check("x", share=0, title="t")
    with pytest.raises(ValueError, match="title"):
        check("x", share=1, title=" ")


SDPA = "torch.nn.functional.scaled_dot_product_attention"


@pytest.mark.parametrize(
    "source",
    [
        "import torch.nn.functional as F\ndef attend(q):\n"
        "    return F.scaled_dot_product_attention(q, q, q)",
        "from torch.nn.functional import scaled_dot_product_attention as sdpa\n"
        "def attend(q):\n    return sdpa(q, q, q)",
        "import torch\nsdpa = torch.nn.functional.scaled_dot_product_attention\n"
        "def attend(q):\n    return sdpa(q, q, q)",
        "import torch\ndef helper(q):\n    return torch.nn.functional."
        "scaled_dot_product_attention(q, q, q)\ndef attend(q):\n    return helper(q)",
    ],
)
def test_a_banned_call_is_found(source):
    student = LocalStudent([source])
    said = words(expect_no_call, student, "attend", [SDPA]).message
    assert said.startswith(f"attend uses {SDPA}")


def test_an_own_function_of_the_same_name_is_no_banned_one():
    own = (
        "def scaled_dot_product_attention(q):\n    return q\n"
        "class Attend:\n    def forward(self, q):\n"
        "        return scaled_dot_product_attention(q) + self.softmax(q)\n"
    )
    expect_no_call(LocalStudent([own]), "Attend", [SDPA, "torch.softmax"])


def test_an_answer_that_is_not_there_to_read_fails():
    student = LocalStudent(["exec('def attend(q): return q')"])
    failed = words(expect_no_call, student, "attend", [SDPA])
    assert failed.message.startswith("attend cannot be read: define it in its cell")


def test_draws_depend_on_assignment_check_and_number():
    def drawn(*key):
        return Draw(*key).normal(3)

    first = drawn("04", "test_a")
    assert torch.equal(first, drawn("04", "test_a"))
    for other in (("05", "test_a"), ("04", "test_b"), ("04", "test_a", 1)):
        assert not torch.equal(first, drawn(*other))


def test_a_fixed_draw_does_not_depend_on_the_courses_number():
    first, other_term = (Draw("04", "test_a", number) for number in (0, 1))
    first.normal(3)  # it does not depend on earlier draws
    assert torch.equal(first.fixed(7).normal(3), other_term.fixed(7).normal(3))
    assert not torch.equal(first.fixed(7).normal(3), first.fixed(8).normal(3))


@pytest.mark.parametrize("seed", range(20))
def test_every_row_of_a_mask_has_both(seed):
    draw = Draw("a", "b", seed)
    mask = draw.mask(3, 1, 4, 2)
    assert mask.dtype == torch.bool
    assert bool(mask.any(-1).all()) and not bool(mask.all(-1).any())
    ids = draw.ids(5, 6)
    assert int(ids.min()) >= 4 and int(ids.max()) < 50
    assert draw.state({"w": (2, 3)})["w"].shape == (2, 3)
    assert draw.choice("abc") in "abc"
