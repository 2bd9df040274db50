"""A message names a mistake only if it applies, and arguments by their names."""

from types import SimpleNamespace

import pytest
import torch

from autograder.checking.behaviour import blame, expect_gradients
from autograder.checking.expect import CheckFailed, expect_close, expect_equal, fail
from autograder.checking.failures import StudentError


def fails() -> None:
    fail("The ordinary case is wrong, too.")


def said_by(run) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        run()
    return caught.value


def test_a_failure_begins_with_a_capital_letter_but_a_name_stays():
    assert said_by(lambda: fail("the tensor of weights is wrong.")).message == (
        "The tensor of weights is wrong."
    )
    assert said_by(lambda: fail("theta is wrong.")).message == "theta is wrong."


def test_a_mistake_is_guessed_if_the_ordinary_case_passes():
    def run() -> None:
        with blame("code for float32 only", lambda: None):
            fail("The result is wrong")

    failure = said_by(run)
    assert failure.guess == "code for float32 only" and failure.mistake is None
    assert failure.message == "The result is wrong"


def test_a_mistake_is_not_guessed_if_the_ordinary_case_fails_too():
    def run() -> None:
        with blame("code for float32 only", fails):
            fail("The result is wrong.")

    failure = said_by(run)
    assert failure.guess is None
    assert failure.message == "The result is wrong."


def test_an_error_of_the_student_is_not_taken_if_the_ordinary_case_fails_too():
    error = StudentError("raised", "f", "f raised ValueError: no (line 1 of its cell)")
    with pytest.raises(StudentError), blame("a batch of one", fails):
        raise error
    with pytest.raises(CheckFailed) as caught, blame("a batch of one"):
        raise error
    assert caught.value.guess == "a batch of one"


@pytest.mark.parametrize(
    ("fitting", "said"),
    [
        (["zeros"], "zeros"),
        (["zeros", "nothing"], "zeros (here the same as nothing)"),
        (["zeros", "nothing", "no sum"], None),
    ],
)
def test_a_value_that_many_mistakes_have_names_none(fitting, said):
    mistakes = {"ones": torch.ones(2)} | {one: torch.zeros(2) for one in fitting}
    got = torch.zeros(2)
    wrong = said_by(lambda: expect_close(got, torch.full((2,), 3.0), "It", mistakes))
    assert wrong.mistake == said
    listed = {one: value.tolist() for one, value in mistakes.items()}
    wrong = said_by(lambda: expect_equal([0.0, 0.0], [3.0, 3.0], "It", listed))
    assert wrong.mistake == said


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda query, key: query * key, "`key`"),
        (lambda *both: both[0] * both[1], "argument 2"),
    ],
)
def test_a_gradient_is_named_after_its_argument(function, name):
    inputs = [torch.tensor([2.0, 3.0]), torch.tensor([5.0, 7.0])]
    run = SimpleNamespace(inputs=[inputs[1], inputs[1]])
    wrong = said_by(lambda: expect_gradients(run, function, inputs, torch.ones(2)))
    assert wrong.message.startswith(f"The gradient of {name} has the right shape (2,)")
    run.inputs[1] = None
    cut = said_by(lambda: expect_gradients(run, function, inputs, torch.ones(2)))
    assert cut.message.startswith(f"No gradient reaches {name}: ")
