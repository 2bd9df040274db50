"""Vary the sizes of a call's inputs, the kinds of their numbers, and the mode.

With only one set of sizes, a check would accept an answer that is right only if, for
example, there are more keys than queries. In these inputs, each size is smaller than,
equal to and larger than each other size. It is also 1, and much larger than in other
checks.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checking.behaviour import blame
from autograder.checking.expect import Mistakes, expect_close
from autograder.checking.generic_checks import part_of
from autograder.checking.random_inputs import Draw
from autograder.phrases import Phrase

LENGTHS = ("t", "s", "n")
SOME_SIZES = "code that is right only for some sizes or some kinds of numbers"


@dataclass(frozen=True)
class Varied:
    """Hold the inputs of one call.

    Attributes:
        case: the name of the set of sizes; see `orders_of`.
        sizes: maps the name of each size in the docstring to the size.
        inputs: one tensor for each shape.
        keeps_gradients: whether to call outside `torch.no_grad()`.
    """

    case: str
    sizes: dict[str, int]
    inputs: list[Tensor]
    keeps_gradients: bool = True

    @property
    def words(self) -> str:
        """Return the sizes as text, such as "b = 2, t = 3"."""
        return ", ".join(f"{name} = {size}" for name, size in self.sizes.items())


def orders_of(names: Iterable[str], least: int = 1) -> dict[str, dict[str, int]]:
    """Return six sets of sizes in which any two sizes occur in every order."""
    names = list(dict.fromkeys(names))
    is_long = {name: name in LENGTHS for name in names}
    rising = {name: 2 + n for n, name in enumerate(names)}
    return {
        "rising": rising,
        "falling": dict(zip(names, reversed(rising.values()), strict=True)),
        "equal": dict.fromkeys(names, 4),
        "ones": dict.fromkeys(names, least),
        "long": {x: 64 + rising[x] if is_long[x] else 2 for x in names},
        "wide": {x: 3 if is_long[x] else 7 + rising[x] for x in names},
    }


def varied_inputs(
    draw: Draw,
    shapes: Sequence[str],
    masks: Sequence[str] = (),
    closed: bool = True,
    large: float = 128.0,
    others: Sequence[str] = (),
    least: int = 1,
) -> Iterator[Varied]:
    """Yield the inputs of six calls that differ in sizes, numbers and mode.

    Args:
        draw: draws the numbers.
        shapes: a shape for each input, such as "b,t,d_model", or "b,t,h*d_k" for a
            product of two sizes.
        masks: the shapes of the masks, which are the last inputs.
        closed: whether the masks of one of the calls hide everything.
        large: the size of the large numbers, which are in every second input of a
            call.
        others: names of sizes that are in no shape, such as the inner width of a
            module.
        least: the smallest size.
    """
    factors = ",".join([*shapes, *others]).replace("*", ",").split(",")
    names = [name for name in factors if not name.isdigit()]
    for case, sizes in orders_of(names, least).items():
        inputs = []
        for number, shape in enumerate(shapes):
            is_large = (case == "long") == (number % 2 == 0)
            top = large if is_large else 1 / 16
            inputs.append(_numbers(draw, case, top, *_shape(shape, sizes)))
        inputs += [_mask(draw, case, closed, *_shape(mask, sizes)) for mask in masks]
        yield Varied(case, sizes, inputs, case != "rising")


def _shape(text: str, sizes: dict[str, int]) -> list[int]:
    factors = [axis.split("*") for axis in text.split(",")]
    return [math.prod(sizes.get(x) or int(x) for x in axis) for axis in factors]


def _numbers(draw: Draw, case: str, top: float, *shape: int) -> Tensor:
    x = draw.normal(*shape)
    if case == "falling":  # positive numbers, not contiguous
        return (x.abs() + 0.1).mT.contiguous().mT if x.dim() > 1 else x.abs() + 0.1
    if case == "equal" and x.dim() > 2:  # all sentences are the same
        return x[:1].repeat(len(x), *[1] * (x.dim() - 1))
    if case == "ones":
        return x / 1000
    if case in ("long", "wide"):  # one number in each row, and otherwise zeros
        is_first = x == x.amax(dim=-1, keepdim=True)
        return is_first * top * x.sign()
    return x


def _mask(draw: Draw, case: str, closed: bool, *shape: int) -> Tensor:
    mask = draw.mask(*shape)
    if case == "falling":
        return mask.mT.contiguous().mT
    if case == "equal" or (case == "ones" and not closed):
        return torch.ones_like(mask)
    return torch.zeros_like(mask) if case == "ones" else mask


def expect_every_size(
    student: Any,
    function: Any,
    right: Callable[..., Tensor],
    varied: Iterable[Varied],
    what: str,
    part: int | None = None,
    mistakes: Callable[..., Mistakes] | None = None,
    tolerance: float = 1e-5,
    rest: Sequence[Any] = (),
    guesses: Mapping[str, str] | None = None,
) -> None:
    """Fail unless a function is right for inputs of every size and kind.

    Args:
        student: the fixture `student`.
        function: the student's function.
        right: the trusted function; it is called in float64.
        varied: the inputs of each call; the first call is the usual case.
        what: the name of the result.
        part: the index of the result, or None if the call returns only one.
        mistakes: returns wrong results for the same arguments, keyed by name.
        tolerance: the tolerance of the comparison.
        rest: further arguments of the student's function.
        guesses: for the name of a case, the mistake that a failure looks like.
    """
    cases = list(varied)

    def compare(case: Varied, call: Any) -> None:
        exact = (x.double() if x.is_floating_point() else x for x in case.inputs)
        want = right(*exact)
        named = mistakes(*case.inputs) if mistakes else None
        whose = Phrase("With {sizes}, {what}", case.words, what)
        got = part_of(call(*case.inputs, *rest), part)
        expect_close(got, want, whose, named, tolerance)

    quiet = student.load("torch.no_grad")()(function)
    for case in cases:
        words = (guesses or {}).get(case.case, SOME_SIZES)
        with blame(words, lambda: compare(cases[0], function)):
            compare(case, function if case.keeps_gradients else quiet)


def expect_modules_of_every_size(
    student: Any,
    make: Callable[[dict[str, int]], tuple[Any, nn.Module]],
    varied: Iterable[Varied],
    draw: Draw,
    what: str,
    part: int | None = None,
    rest: Sequence[tuple[Any, Any]] = (),
) -> None:
    """Fail unless modules of every size are right in evaluation and training mode.

    Args:
        student: the fixture `student`.
        make: makes the student's module and the trusted one with the given sizes and
            without dropout. Their parameters have the same names.
        varied: the inputs of each call; the first call is the usual case.
        draw: draws the parameters.
        what: the name of the result.
        part: the index of the result, or None if the call returns only one.
        rest: further arguments, as pairs for the student's and for the trusted module.
    """
    cases = list(varied)

    def compare(number: int) -> None:
        case = cases[number]
        module, right = make(case.sizes)
        module.float()
        right.double()
        shapes = {name: x.shape for name, x in right.state_dict().items()}
        state = {
            name: x / x.size(-1) ** 0.5 if x.dim() > 1 else x
            for name, x in draw.state(shapes).items()
        }
        module.load_state_dict(state)
        right.load_state_dict(state)
        exact = [x.double() if x.is_floating_point() else x for x in case.inputs]
        want = part_of(right(*exact, *(ours for _, ours in rest)), part).detach()
        call = module
        if not case.keeps_gradients:
            call = student.load("torch.no_grad")()(module)
        for mode, is_training in (("eval()", False), ("train()", True)):
            module.train(is_training)
            got = part_of(call(*case.inputs, *(theirs for theirs, _ in rest)), part)
            whose = Phrase("After {mode}, with {sizes}, {what}", mode, case.words, what)
            expect_close(got, want, whose, tolerance=1e-4)

    for number in range(len(cases)):
        with blame(SOME_SIZES, lambda: compare(0)):
            compare(number)
