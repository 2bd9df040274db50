"""Provide what authors need for hidden checks: the marker and the expectations.

A hidden check is a pytest function with the fixtures `student` and `draw`. It runs in
the trusted process, and its failure message is written for the student.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from autograder.checking.banned_calls import Unreadable, banned_use
from autograder.checking.compare import (
    describe,
    difference,
    name_of_mistake,
    named,
    shape_words,
)
from autograder.checking.failures import BannedCall, CheckFailed
from autograder.phrases import Phrase

Function = TypeVar("Function", bound=Callable[..., None])
Mistakes = Mapping[str, Any]
MARK = "hidden_check"  # the attribute of a check that contains its marker
BANNED = "a call that is the whole answer"

__all__ = [
    "Callback",
    "CheckFailed",
    "CheckMarker",
    "check",
    "expect_close",
    "expect_equal",
    "expect_no_call",
    "expect_shape",
    "fail",
]


@dataclass(frozen=True)
class CheckMarker:
    """Hold the data of a hidden check's marker."""

    exercise: str
    share: float
    title: str
    hint: str = ""
    form: bool = False
    bans: tuple[str, Sequence[str]] | None = None


@dataclass(frozen=True)
class Callback:
    """Wrap an object of the grader, so that the student's code can call it.

    The student's side gets another object with exactly these `methods` (including
    `"__call__"` if it is callable) and with the plain values in `attributes`. Tensors
    are sent as values, without gradients.
    """

    target: Any
    methods: Sequence[str] = ("__call__",)
    attributes: Mapping[str, Any] = field(default_factory=dict)


def check(
    exercise: str,
    share: float,
    title: str,
    hint: str = "",
    form: bool = False,
    bans: tuple[str, Sequence[str]] | None = None,
) -> Callable[[Function], Function]:
    """Mark a function as a hidden check of `exercise`, worth `share` of its points.

    Args:
        exercise: the `grade_id` of the answer cell. The id of the graded cell also has
            the suffix `-check`.
        share: the check's share of the exercise's points, relative to the other checks.
        title: the subject of the check, which the student reads.
        hint: a hint for the student if the check fails.
        form: whether the check tests only the form of the result, such as its shape,
            dtype or device, or that inputs are unchanged. Such a check could pass for
            wrong values, so it earns points only if a check of values passes.
        bans: the name of a function or class that students write, and the dotted names
            of built-ins that would be the whole answer. If the answer uses one of them,
            the check fails and the exercise earns no points. All checks of the exercise
            must also pass in a process without the built-ins.

    Raises:
        ValueError: if `share` is not positive or `title` is empty.
    """
    if not share > 0:
        raise ValueError(f"share must be positive, not {share!r}")
    if not title.strip():
        raise ValueError("title must name the subject of the check, but it is empty")

    def mark(function: Function) -> Function:
        marker = CheckMarker(exercise, share, title, hint, form, bans)
        setattr(function, MARK, marker)
        return function

    return mark


def fail(message: str, mistake: str | None = None, guess: str | None = None) -> None:
    """Fail the check with a message for the student.

    Args:
        message: the expected result and the actual one.
        mistake: the mistake, if it is certain.
        guess: a mistake that would explain the failure. The student reads it only if no
            other check contradicts it.
    """
    raise CheckFailed(message, mistake, guess)


def expect_shape(actual: Any, shape: Sequence[int], what: str) -> None:
    """Fail unless `actual` is a tensor of exactly `shape`."""
    if not isinstance(actual, Tensor):
        fail(
            Phrase(
                "{what} should be a tensor, but it is {found}.", what, describe(actual)
            )
        )
    if tuple(actual.shape) != tuple(shape):
        fail(
            Phrase(
                "{what} should have the shape {shape}, but it has {found}.",
                what,
                shape_words(shape),
                shape_words(actual.shape),
            )
        )


def expect_close(
    actual: Any,
    expected: Tensor | float,
    what: str,
    mistakes: Mistakes | Callable[[], Mistakes] | None = None,
    tolerance: float = 1e-5,
) -> None:
    """Fail unless `actual` equals `expected` within `tolerance`, in float32.

    If they differ, `actual` is compared with each of `mistakes`. This is a mapping from
    a phrase to a wrong value, or to a function that computes the wrong value, or it is
    a function that returns such a mapping. If one or two mistakes fit, the message
    names them.
    """
    expected = torch.as_tensor(expected)
    problem = difference(actual, expected, what, tolerance)
    if problem is None:
        return
    known = mistakes() if callable(mistakes) else mistakes or {}
    phrase = name_of_mistake(actual, known, tolerance)
    fail(
        Phrase("{what} should not equal {phrase}.", what, phrase)
        if phrase
        else problem,
        phrase,
    )


def expect_equal(
    actual: Any, expected: Any, what: str, mistakes: Mistakes | None = None
) -> None:
    """Fail unless `actual` equals `expected` exactly in type, shape and value.

    Use this function for tensors of integers or bools, for numbers and strings, and for
    nested containers of these. A tuple equals a list with the same items.
    """
    if isinstance(expected, Tensor):
        is_bool = expected.dtype == torch.bool
        expected_kind = Phrase("bools") if is_bool else Phrase("numbers")
        if isinstance(actual, Tensor) and (actual.dtype == torch.bool) != is_bool:
            fail(
                Phrase(
                    "{what} should hold {expected_kind}, not {found}.",
                    what,
                    expected_kind,
                    actual.dtype,
                )
            )
        expect_close(actual, expected, what, mistakes, tolerance=0.0)
        return
    if _same(actual, expected):
        return
    phrase = named(mistakes or {}, lambda value: _same(actual, value))
    if phrase:
        fail(Phrase("{what} should not equal {phrase}.", what, phrase), phrase)
    if type(actual) is not type(expected):
        fail(
            Phrase(
                "{what} should be {wanted}, but it is {found}.",
                what,
                describe(expected),
                describe(actual),
            )
        )
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        fail(Phrase("{what} is a number, but not the one expected.", what))
    fail(
        Phrase(
            "{what} is of the right type, but its value is not the expected one.", what
        )
    )


def _same(actual: Any, expected: Any) -> bool:
    if isinstance(expected, Tensor):
        return (
            isinstance(actual, Tensor)
            and actual.dtype == expected.dtype
            and actual.shape == expected.shape
            and torch.equal(actual, expected)
        )
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(actual, (list, tuple))
            and len(actual) == len(expected)
            and all(map(_same, actual, expected))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(actual, Mapping)
            and set(actual) == set(expected)
            and all(_same(actual[key], expected[key]) for key in expected)
        )
    number = isinstance(expected, (int, float)) and not isinstance(expected, bool)
    if number and isinstance(actual, (int, float)) and not isinstance(actual, bool):
        return actual == expected
    return type(actual) is type(expected) and bool(actual == expected)


def expect_no_call(student: Any, name: str, banned: Sequence[str]) -> None:
    """Fail if the source code of the student's `name` uses a banned callable.

    This function reads the syntax tree of the definition and of everything in the
    notebook that it uses. The last part of a banned name, such as `softmax`, may also
    be the name of a student's own function.

    Args:
        student: the fixture `student`.
        name: the function or class to read.
        banned: dotted names, such as `torch.nn.functional.softmax`.
    """
    program = student.program()
    try:
        used = banned_use(program, name, banned)
        is_read = name in program.definitions
    except Unreadable:
        used, is_read = None, False
    if used is not None:
        raise banned_call(name, used)
    if not is_read:
        fail(
            Phrase(
                "{name} cannot be read: define it in its cell with `def` or `class`. "
                "The grader has to see that you wrote it yourself.",
                name,
            )
        )


def banned_call(name: str, used: str) -> BannedCall:
    """Report that an answer uses a built-in that the student should write."""
    return BannedCall(
        Phrase(
            "{name} uses {used}, which this exercise asks you to write yourself.",
            name,
            used,
        ),
        BANNED,
    )
