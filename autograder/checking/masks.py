"""Check masks: their values, dtype and device."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from autograder.checking.compare import describe, name_of_mistake
from autograder.checking.expect import expect_shape, fail
from autograder.checking.failures import StudentError
from autograder.phrases import Phrase

ELSEWHERE = "a mask made on the default device, whatever the input's device"

Mistakes = Mapping[str, Tensor]


def expect_mask(actual: Any, expected: Tensor, what: str, mistakes: Mistakes) -> None:
    """Fail unless a mask equals `expected`, whether as bools or as zeros and ones."""
    if isinstance(actual, Tensor) and not actual.is_complex():
        actual = actual.bool() if bool(actual.isfinite().all()) else actual == 0
    phrase = name_of_mistake(actual, mistakes, 0.0)
    if phrase and not (actual.shape == expected.shape and actual.equal(expected)):
        fail(Phrase("{what} should not equal {phrase}.", what, phrase), phrase)
    expect_shape(actual, expected.shape, what)
    if not actual.equal(expected):
        wrong = int((actual != expected).sum())
        fail(
            Phrase(
                "{what} has the right shape, but {wrong} of its {total} entries have "
                "the opposite value.",
                what,
                wrong,
                actual.numel(),
            )
        )


def expect_bool(actual: Any, what: str) -> None:
    """Fail unless a mask consists of bools."""
    if not isinstance(actual, Tensor):
        fail(
            Phrase(
                "{what} should be a tensor, but it is {found}.", what, describe(actual)
            )
        )
    if actual.dtype != torch.bool:
        fail(
            Phrase(
                "{what} should hold bools (True = may attend), but it is {found}. A "
                "comparison gives bools, and .bool() converts zeros and ones.",
                what,
                actual.dtype,
            ),
            mistake="numbers instead of bools",
        )


@contextmanager
def another_default_device(student: Any) -> Iterator[None]:
    """Make a device other than the CPU the default for new tensors."""
    set_default_device = student.load("torch.set_default_device")
    set_default_device("meta")
    try:
        yield
    finally:
        set_default_device(None)


def expect_on_cpu(student: Any, make: Callable[[], Any], what: str) -> None:
    """Fail unless a mask is on the requested device, even if it is not the default."""
    make()  # a general error appears here
    try:
        with another_default_device(student):
            mask = make()
    except StudentError as error:
        if error.kind == "not written":
            return  # correct: created, then moved, but "meta" cannot be copied
        fail(error.message, guess=ELSEWHERE)
    if not isinstance(mask, Tensor):
        fail(
            Phrase(
                "{what} is not on the device in the argument `device`: pass `device` "
                "to the function that makes the tensor.",
                what,
            ),
            ELSEWHERE,
        )
