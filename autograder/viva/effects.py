"""Read results from the student's process, compare them and format them as text."""

import math
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from autograder.sandbox.error_words import clean

Result = str | tuple[Tensor, ...]  # the class name of an error, or the tensors
MOST_NUMBERS, SHOWN_NUMBERS, BY_HAND_NUMBERS = 1_000, 32, 12
LARGE = 1e6  # larger numbers are written with an exponent
MOST_FRACTION = 100  # a larger number is near some fraction by chance
UNITS = {"": 1.0, "√2": math.sqrt(2), "√3": math.sqrt(3)} | {
    f"ln {n}": math.log(n) for n in (2, 3, 5)
}


def read_results(reply: Any, count: int) -> list[Result] | None:
    """Return the results in an untrusted reply, or None if its form is wrong."""
    if not isinstance(reply, list) or len(reply) != count:
        return None
    pairs = [one for one in reply if isinstance(one, tuple) and len(one) == 2]
    results = [one for pair in pairs if (one := _read(*pair)) is not None]
    return results if len(results) == count else None


def _read(kind: Any, value: Any) -> Result | None:
    if kind == "error":
        return clean(value, 60)
    tensors = []
    for part in value if isinstance(value, tuple | list) else (value,):
        is_number = isinstance(part, float) or (
            isinstance(part, int) and abs(part) < 2**53
        )
        if not isinstance(part, Tensor) and not is_number:
            return None
        tensors.append(torch.as_tensor(part))
    if any(one.is_complex() for one in tensors):
        return None
    size = sum(one.numel() for one in tensors)
    return tuple(tensors) if 0 < size <= MOST_NUMBERS else None


def kind_of_change(old: Result, new: Result) -> str:
    """Return "same", "error", "shape", "factor", "value" or "unclear".

    A change is unclear if it is so small that it may disappear by rounding on another
    machine, or if only the dtype or the error differs.
    """
    if isinstance(old, str) or isinstance(new, str):
        is_same = isinstance(old, str) and old == new
        return "same" if is_same else "unclear" if isinstance(old, str) else "error"
    if shapes_of(old) != shapes_of(new):
        return "shape"
    if agree(old, new, 1e-5):
        same_dtypes = [one.dtype for one in old] == [one.dtype for one in new]
        return "same" if same_dtypes else "unclear"
    if agree(old, new, 1e-2):
        return "unclear"
    return "value" if factor_of(old, new) is None else "factor"


def agree(one: Result, other: Result, tolerance: float = 1e-4) -> bool:
    """Return whether two results have the same shapes and values. Dtypes may differ."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    if shapes_of(one) != shapes_of(other):
        return False
    numbers = _numbers(one), _numbers(other)
    return torch.allclose(*numbers, tolerance, tolerance / 10, equal_nan=True)


def largest_difference(one: Result, other: Result) -> float:
    """Return the largest difference between two results that have the same shapes."""
    if isinstance(one, str) or isinstance(other, str):
        return 0.0
    return (_numbers(one) - _numbers(other)).abs().nan_to_num(0.0).max().item()


def factor_of(old: Result, new: Result) -> float | None:
    """Return the factor by which all numbers changed, or None if there is none."""
    if isinstance(old, str) or isinstance(new, str) or shapes_of(old) != shapes_of(new):
        return None
    before, after = _numbers(old), _numbers(new)
    factors = after[before != 0] / before[before != 0]
    if not len(factors) or not factors.isfinite().all() or after[before == 0].any():
        return None
    first = factors[0].item()
    return first if (factors - first).abs().max() <= 1e-5 * abs(first) else None


def shapes_of(result: Result) -> list[tuple[int, ...]]:
    """Return the shape of each tensor in a result."""
    return [] if isinstance(result, str) else [tuple(one.shape) for one in result]


def shown(result: Result) -> str:
    """Return a result as text, with fractions, roots and logarithms."""
    if isinstance(result, str):
        return result
    if sum(map(Tensor.numel, result)) > SHOWN_NUMBERS:
        return shown_shapes(result)
    return _in_brackets([_nested(one.tolist()) for one in result])


def shown_shapes(result: Result) -> str:
    """Return the shapes of a result as text."""
    return _in_brackets([str(shape) for shape in shapes_of(result)])


def _in_brackets(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    if isinstance(value, bool):
        return str(value)
    text = (abs(value) < LARGE and exact(value)) or f"{value:.4g}"
    return "≈0" if value and text == "0" else text  # such as exp(-20), or rounding


def is_by_hand(result: Result) -> bool:
    """Return whether a person can calculate all numbers of a result on paper."""
    if isinstance(result, str) or len(_numbers(result)) > BY_HAND_NUMBERS:
        return False
    return all(exact(one) is not None for one in _numbers(result).tolist())


def exact(number: float) -> str | None:
    """Return a number as a fraction, a root or a logarithm, or None."""
    if not math.isfinite(number):
        return str(number)
    for word, unit in UNITS.items():
        if word and abs(number) > MOST_FRACTION:
            break
        most = 1 if abs(number) > MOST_FRACTION else 4 if word else 12
        share = Fraction(number / unit).limit_denominator(most)
        if abs(float(share) * unit - number) < 2e-6 * max(1, abs(number)):
            if not word or share == 0:
                return str(share)
            blank = " " if word.startswith("ln") else ""
            top = {1: "", -1: "-"}.get(share.numerator, f"{share.numerator}{blank}")
            below = f"/{share.denominator}" if share.denominator > 1 else ""
            return f"{top}{word}{below}"
    is_64th = abs(number) < 1 and (64 * number).is_integer()
    return str(Fraction(number)) if is_64th else None


def _numbers(tensors: tuple[Tensor, ...]) -> Tensor:
    return torch.cat([one.double().flatten() for one in tensors])
