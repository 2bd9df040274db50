"""Check different kinds of inputs: axes, masks, precision and large numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_dtype
from autograder.checking.expect import Mistakes, expect_close, fail
from autograder.checking.random_inputs import Draw
from autograder.phrases import Phrase

LEADS = ((2, 3), (), (3,), (2, 1, 3), (2, 1, 2, 3))
ROUNDED = "numbers rounded to a different dtype on the way"
FEW_DIGITS = (
    "fewer digits than float64 has: a constant with few digits, or an added number"
)
FINE = 1e-9  # visible in float64 but not in float32
Call = Callable[..., Any]
Right = Callable[..., Tensor]


def expect_leading_axes(
    call: Call,
    right: Right,
    tails: Sequence[Sequence[int]],
    draw: Draw,
    what: str,
    mistakes: Callable[..., Mistakes] | None = None,
    leads: Sequence[Sequence[int]] = LEADS,
) -> None:
    """Fail unless a function works for any number of leading axes.

    Args:
        call: the student's function; its result is a tensor.
        right: the trusted function; it is called in float64.
        tails: for each argument, the sizes of its fixed last axes.
        draw: draws the arguments.
        what: the name of the result.
        mistakes: returns wrong results for the same arguments, keyed by name.
        leads: the sizes of the leading axes; the first entry is the usual case.
    """

    def compare(lead: Sequence[int]) -> None:
        given = [draw.normal(*lead, *tail) for tail in tails]
        want = right(*(x.double() for x in given))
        named = mistakes(*given) if mistakes else None
        whose = Phrase("With {n} axes in front, {what}", len(lead), what)
        if not lead:
            whose = Phrase("With no axes in front, {what}", what)
        elif len(lead) == 1:
            whose = Phrase("With {n} axis in front, {what}", 1, what)
        expect_close(call(*given), want, whose, named)

    for lead in leads:
        words = Phrase("code that assumes {n} axes in front", len(leads[0]))
        with blame(words, lambda: compare(leads[0])):
            compare(lead)


def masks_of_every_kind(
    draw: Draw, b: int, h: int, t: int, s: int
) -> dict[str, Tensor]:
    """Draw masks of every shape that broadcasts to scores (b, h, t, s).

    The keys are the shapes in words, and the first mask is the usual one. Every query
    may attend to at least one key, but not to all keys.
    """
    shapes = {
        "(b, 1, t, s), one for each sentence": (b, 1, t, s),
        "(b, h, t, s), one for each head": (b, h, t, s),
        "(1, h, t, s), one for each head": (1, h, t, s),
        "(b, 1, 1, s), of padding": (b, 1, 1, s),
        "(1, 1, t, s), one mask for all sentences": (1, 1, t, s),
        "(t, s), without a batch": (t, s),
        "(h, t, s), one for each head, without a batch": (h, t, s),
        "(s,), only for the keys": (s,),
    }
    return {words: draw.mask(*shape) for words, shape in shapes.items()}


def expect_every_mask(
    call: Callable[[Tensor], Any],
    right: Callable[[Tensor], Tensor],
    masks: Mapping[str, Tensor],
    what: str,
    mistakes: Callable[[Tensor], Mistakes] | None = None,
) -> None:
    """Fail unless a function accepts masks of every shape.

    Args:
        call: the student's function, with a mask as its only argument.
        right: the trusted function.
        masks: the masks, keyed by shape in words; the first is the usual one.
        what: the name of the result.
        mistakes: returns wrong results for a mask, keyed by name.
    """

    def compare(words: str) -> None:
        mask = masks[words]
        named = mistakes(mask) if mistakes else None
        expect_close(
            call(mask),
            right(mask),
            Phrase("With a mask {words}, {what}", words, what),
            named,
        )

    usual = next(iter(masks))
    for words in masks:
        phrase = Phrase("code that does not take a mask {words}", words)
        with blame(phrase, lambda: compare(usual)):
            compare(words)


def close_rows(mask: Tensor, rows: int = 1) -> Tensor:
    """Return a mask that hides all keys from the last sentence's first `rows` rows."""
    closed = mask.clone()
    closed[-1, ..., :rows, :] = False
    return closed


def rows_far_apart(draw: Draw, *shape: int) -> Tensor:
    """Draw scores with ordinary differences in a row but thousands between rows.

    Code that subtracts the maximum of all scores instead of the maximum of each row
    computes 0 / 0.
    """
    rows = torch.arange(shape[-2], dtype=torch.float32) - shape[-2] // 2
    return draw.normal(*shape) + 1000 * rows[:, None]


def expect_double(
    call: Call,
    right: Right,
    inputs: Sequence[Any],
    what: str,
    tolerance: float | None = 1e-10,
) -> None:
    """Fail unless float64 inputs give float64 results with full precision.

    Args:
        call: the student's function; its result is a tensor.
        right: the trusted function.
        inputs: the arguments; floating-point tensors are converted to float64.
        what: the name of the result.
        tolerance: the tolerance of the comparison in float64. If it is None, check only
            that no intermediate value is rounded to another dtype; constants may be
            rounded.
    """
    given = [_in(x, torch.float64) for x in inputs]
    got, want = call(*given), right(*given).detach()
    expect_close(got, want, what)
    expect_dtype(got, torch.float64, what)
    finer = [_moved_a_little(x) for x in given]
    step, right_step = call(*finer) - got, right(*finer).detach() - want
    if not _near(step, right_step, 0.01 * float(right_step.abs().max())):
        fail(
            Phrase(
                "For float64 inputs, {what} is float64, but has only the precision of "
                "float32: some intermediate value is rounded.",
                what,
            ),
            mistake=ROUNDED,
        )
    if tolerance is not None and not _near(got, want, tolerance):
        fail(
            Phrase(
                "For float64 inputs, {what} has only a few right digits: a constant "
                "has too few digits, or your code adds a small number.",
                what,
            ),
            mistake=FEW_DIGITS,
        )


def _moved_a_little(value: Any) -> Any:
    """Change every other number by an amount that float32 cannot represent."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return value
    every_other = torch.arange(value.numel()).reshape(value.shape) % 2
    return value * (1 + FINE * every_other.double())


def _near(actual: Tensor, expected: Tensor, tolerance: float) -> bool:
    close = torch.isclose(
        actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True
    )
    return bool(close.all())


def expect_half(
    call: Call,
    right: Right,
    inputs: Sequence[Any],
    what: str,
    dtypes: Sequence[torch.dtype] = (torch.float16, torch.bfloat16),
) -> None:
    """Fail unless a function accepts half precision and returns half precision."""
    for dtype in dtypes:
        given = [_in(x, dtype) for x in inputs]
        exact = [_in(x, torch.float64) for x in given]
        with blame(
            Phrase(
                "code that does not work in {dtype}", str(dtype).removeprefix("torch.")
            )
        ):
            got = call(*given)
            bound = 8 * torch.finfo(dtype).eps
            expect_close(
                got,
                right(*exact),
                Phrase("In {dtype}, {what}", dtype, what),
                tolerance=bound,
            )
            expect_dtype(got, dtype, what)


def _in(value: Any, dtype: torch.dtype) -> Any:
    is_float = isinstance(value, Tensor) and value.is_floating_point()
    return value.to(dtype) if is_float else value
