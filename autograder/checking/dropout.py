"""Check dropout with bounds that correct code almost never exceeds by chance."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from autograder.checking.chance import slack
from autograder.checking.expect import expect_close, expect_shape, fail
from autograder.phrases import Phrase

# Axes along which the dropout patterns must differ, for weights (b, h, t, s) and for
# vectors.
OF_WEIGHTS: dict[str, int] = {
    Phrase("sentence"): 0,
    Phrase("head"): 1,
    Phrase("query"): 2,
    Phrase("key"): 3,
}
OF_VECTORS: dict[str, int] = {
    Phrase("token"): 1,
    Phrase("sentence"): 0,
    Phrase("number"): 2,
}


def expect_dropped(
    used: Tensor,
    right: Tensor,
    p: float,
    what: str,
    axes: Mapping[str, int] | None = None,
    again: Tensor | None = None,
) -> None:
    """Fail unless `used` equals `right` after dropout with probability `p`.

    The kept numbers must be divided by 1 - p. Zeros in `right` are ignored.

    Args:
        used: the result of the student's dropout on `right`.
        right: the numbers before dropout.
        p: the share of numbers to drop.
        what: the name of the numbers, such as "the weights".
        axes: the axes along which the patterns must differ, by name, such as
            `OF_WEIGHTS`.
        again: the result of a second call on the same numbers.

    Raises:
        ValueError: if there are too few numbers for a safe decision. Draw more numbers.
    """
    expect_shape(used, tuple(right.shape), what)
    counted = right != 0
    dropped = (used == 0) & counted
    kept = counted & ~dropped
    _expect_share(dropped[counted], (used / right)[kept], p, what)
    _expect_scale(used, right, kept, p, what)
    for name, axis in (axes or {}).items():
        _expect_unlike_along(axis, name, dropped, p, what)
    if again is not None:
        _enough(int(counted.sum()), p)
        if dropped.equal((again == 0) & counted):
            fail(
                Phrase(
                    "Two calls drop the same numbers of {what}: dropout should draw "
                    "new random numbers in each call.",
                    what,
                ),
                mistake="the same numbers dropped in every call",
            )


def _expect_share(dropped: Tensor, scales: Tensor, p: float, what: str) -> None:
    """Compare the dropped share with a bound that correct code almost never exceeds."""
    bound = slack(dropped.numel())
    if bound > 0.15:
        raise ValueError(f"{dropped.numel()} numbers are too few: draw more")
    share = float(dropped.double().mean())
    if share == 0:
        fail(
            Phrase("dropout={p} changed nothing.", f"{p:g}"),
            mistake="dropout is ignored",
        )
    meant = _share_by_scale(scales)
    if meant is None or abs(share - meant) > bound:
        meant = share
    elif abs(meant - p) > 0.001:
        bound = 0.001  # the scale shows correct dropout with another p
    if abs(meant - p) <= bound:
        return
    if abs(meant - (1 - p)) <= bound:
        fail(
            Phrase(
                "dropout={p} is the share of {what} that becomes 0, but yours drops "
                "1 - p of it.",
                f"{p:g}",
                what,
            ),
            mistake="dropout that keeps the share it should drop",
        )
    fail(
        Phrase(
            "dropout={p} is the share of {what} that becomes 0, but yours drops "
            "a different share.",
            f"{p:g}",
            what,
        ),
        mistake="a different share dropped",
    )


def _share_by_scale(scales: Tensor) -> float | None:
    """Return the probability p for which the numbers were scaled, or None."""
    if not scales.numel() or not torch.allclose(scales, scales[:1], rtol=1e-4):
        return None
    scale = float(scales.double().mean())
    return 1 - 1 / scale if scale > 1 else None


def _expect_scale(
    used: Tensor, right: Tensor, kept: Tensor, p: float, what: str
) -> None:
    before = right.double()[kept]
    mistakes = {
        "the kept numbers, without the division by 1 - p": before,
        "the kept numbers, divided by p instead of 1 - p": before / p,
        "the kept numbers, multiplied by 1 - p instead of divided": before * (1 - p),
    }
    whose = Phrase("With dropout={p}, the kept part of {what}", f"{p:g}", what)
    expect_close(used[kept], before / (1 - p), whose, mistakes)


def _expect_unlike_along(
    axis: int, name: str, dropped: Tensor, p: float, what: str
) -> None:
    first = dropped.narrow(axis, 0, 1)
    _enough(int(first.numel()), p, copies=dropped.size(axis))
    if dropped.equal(first.expand_as(dropped)):
        fail(
            Phrase(
                "Dropout should drop individual numbers of {what}, but it drops the "
                "same ones for every {name}.",
                what,
                name,
            ),
            mistake=Phrase("dropout that is the same for every {name}", name),
        )


def _enough(numbers: int, p: float, copies: int = 2) -> None:
    """Raise unless two random patterns of length `numbers` almost certainly differ."""
    alike = numbers * math.log(p**copies + (1 - p) ** copies)
    if alike > math.log(1e-9):
        raise ValueError(f"{numbers} numbers are too few to compare: draw more")


def weights_seen_through(values: int, *lead: int) -> Tensor:
    """Return values (…, s, s) for which the output of attention equals its weights."""
    return torch.eye(values).repeat(*lead, 1, 1)
