"""Compare a student's result with the expected result and describe the difference.

The messages never contain an expected value or an input.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.phrases import Phrase

INFINITY = Phrase("infinity")
NOTHING = Phrase("None (is a `return` missing?)")


def shape_words(shape: Sequence[int]) -> str:
    """Return a shape as text in the form of a Python tuple: `(2, 3)`."""
    return str(tuple(int(size) for size in shape))


def describe(value: Any) -> str:
    """Describe the type of `value`, with its shape or length but without its value."""
    if value is None:
        return NOTHING
    if isinstance(value, Tensor):
        return Phrase(
            "a tensor of shape {shape} and {dtype}",
            shape_words(value.shape),
            value.dtype,
        )
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return Phrase("a {kind} of {length}", type(value).__name__, len(value))
    name = getattr(value, "type_name", None) or type(value).__name__
    is_vowel = name[:1].lower() in "aeiou"
    return Phrase("an {kind}", name) if is_vowel else Phrase("a {kind}", name)


def difference(
    actual: Any, expected: Tensor, what: str, tolerance: float
) -> str | None:
    """Describe in words how `actual` differs from `expected`, or return None."""
    if not isinstance(actual, Tensor):
        is_number = isinstance(actual, (int, float)) and not isinstance(actual, bool)
        if not (is_number and expected.dim() == 0):
            wanted = "a number" if expected.dim() == 0 else "a tensor"
            return Phrase(
                "{what} should be {wanted}, but it is {found}.",
                what,
                wanted,
                describe(actual),
            )
        actual = torch.tensor(actual)
    if actual.shape != expected.shape:
        return Phrase(
            "{what} should have the shape {shape}, but it has {found}.",
            what,
            shape_words(expected.shape),
            shape_words(actual.shape),
        )
    if actual.is_complex() and not expected.is_complex():
        return Phrase(
            "{what} should hold real numbers, but it is {found}.", what, actual.dtype
        )
    return _value_difference(actual, expected, what, tolerance)


def _value_difference(
    actual: Tensor, expected: Tensor, what: str, tolerance: float
) -> str | None:
    wrong = ~_close(actual, expected, tolerance)
    if not bool(wrong.any()):
        return None
    numbers = _comparable(actual)
    for bad, words in ((numbers.isnan(), "NaN"), (numbers.isinf(), INFINITY)):
        count = int((bad & wrong).sum())
        if count:
            return Phrase(
                "{what} holds {words} in {count} of {total} places.",
                what,
                words,
                count,
                bad.numel(),
            )
    if actual.dim() == 0:  # do not show the number, because it may be an input
        return Phrase("{what} is a number, but not the one expected.", what)
    return Phrase(
        "{what} has the right shape {shape}, but {wrong} of its {total} values are "
        "wrong.",
        what,
        shape_words(actual.shape),
        int(wrong.sum()),
        wrong.numel(),
    )


def name_of_mistake(
    actual: Any, mistakes: Mapping[str, Any], tolerance: float
) -> str | None:
    """Return the phrase of the mistake whose value equals `actual`; see `named`."""
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        actual = torch.tensor(actual)
    if not isinstance(actual, Tensor):
        return None
    given: Tensor = actual

    def equals(value: Any) -> bool:
        wrong = torch.as_tensor(value)
        same_shape = wrong.shape == given.shape
        return same_shape and bool(_close(given, wrong, tolerance).all())

    return named(mistakes, equals)


def named(mistakes: Mapping[str, Any], equals: Callable[[Any], bool]) -> str | None:
    """Return the phrase of the mistake whose value fits, or of both if two fit.

    If more than two fit, the result is None, because the value does not identify the
    mistake.
    """
    found = []
    for phrase, value in mistakes.items():
        try:
            if equals(value() if callable(value) else value):
                found.append(phrase)
        except Exception:  # so it is not this mistake
            continue
    if len(found) == 2:
        return Phrase("{one} (here the same as {other})", *found)
    return found[0] if len(found) == 1 else None


def _comparable(value: Tensor) -> Tensor:
    kind = torch.complex64 if value.is_complex() else torch.float32
    return value.detach().cpu().to(kind)


def _close(actual: Tensor, expected: Tensor, tolerance: float) -> Tensor:
    if not _has_fractions(actual) and not _has_fractions(expected):
        return actual.cpu() == expected.cpu()
    left, right = _comparable(actual), _comparable(expected)
    if left.dtype != right.dtype:
        left, right = left.to(torch.complex64), right.to(torch.complex64)
    return torch.isclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)


def _has_fractions(value: Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def last_place(scores: Tensor) -> float:
    """Return the rounding error of weights that are computed from these scores.

    The weights are computed with the logarithm of a sum of exponentials. This logarithm
    is as large as the scores, so its rounding error in float32 grows with the scores.
    """
    finite = scores[scores.isfinite()].abs()
    return max(1e-5, finite.max().item() * torch.finfo(torch.float32).eps)
