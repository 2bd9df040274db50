"""Hidden checks of unit 12: Table 1, restricted attention, alignment error rate."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import product
from typing import Any

import torch

from autograder.checking.behaviour import blame, blame_error
from autograder.checking.compare import describe
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.failures import StudentError
from autograder.checking.generic_checks import FIXED, KEPT, expect_no_traces
from autograder.checking.masks import (
    Mistakes,
    expect_bool,
    expect_mask,
    expect_on_cpu,
)
from autograder.checking.varied_inputs import SOME_SIZES
from autograder.phrases import Phrase
from transformer.experiments import complexity as reference

PRIMES = (5, 7, 11, 13, 17, 19, 23)
# Half the length at which each kind's cost is counted. No other kind has a cost at this
# length, so a stored value does not help.
HALVES = {
    "self_attention": (29, 31),
    "restricted_attention": (37, 41),
    "recurrent": (43, 47),
    "convolution": (53, 59),
    "dilated_convolution": (61, 67),
    "separable_convolution": (71, 73),
}
PER_CENT = "the rate as a percentage"
NO_NUMBER = "something other than a number"
ON_CPU = (
    "a mask on the CPU regardless of the device: created there or kept "
    "from another call"
)
Links = set[tuple[int, int]]


def distinct(draw, count: int, items=PRIMES) -> list[int]:
    """Draw different sizes, none of which divides another."""
    left, chosen = list(items), []
    for _ in range(count):
        chosen.append(draw.choice(left))
        left.remove(chosen[-1])
    return chosen


# --- layer_cost -------------------------------------------------------------------


def attention_costs(n: int, d: int, w: int) -> dict[str, dict[str, int]]:
    """Return wrong multiply-adds of both attentions, keyed by name."""
    attention = {
        "half of the count: the weighted sum of the values costs as much "
        "as the scores": (n * n * d),
        "the count with the four projections, which Table 1 does not include": (
            2 * n * n * d + 4 * n * d * d
        ),
        "the count of a recurrent layer": 2 * n * d * d,
        "n² · d², as if each score cost d² multiply-adds": n * n * d * d,
        "the count for all n keys, although each query attends to only r": 2
        * n
        * n
        * d,
    }
    restricted = {
        "half of the count: the weighted sum of the values costs as much "
        "as the scores": (w * n * d),
        "r² · d: only r queries, although all n positions are queries": 2 * w * w * d,
        "the count with d² instead of d": 2 * w * n * d * d,
        "the count of only the existing neighbours at the ends": _existing(n, d, w),
        "the count with (r - 1) / 2 neighbours instead of r": (w - 1) * n * d,
        "the count of full attention": 2 * n * n * d,
    }
    return {"self_attention": attention, "restricted_attention": restricted}


def other_costs(n: int, d: int, w: int) -> dict[str, dict[str, int]]:
    """Return wrong costs of recurrent layers and convolutions, keyed by name."""
    recurrent = {
        "half of the count: there are two products, W x and U h": n * d * d,
        "the count of self-attention": 2 * n * n * d,
        "the count without the product U h for the first state": (2 * n - 1) * d * d,
        "the count with d instead of d²": 2 * n * d,
    }
    convolution = {
        "the count without the width k of the kernel": n * d * d,
        "the count with d instead of d²: each output channel uses all d "
        "input channels": (w * n * d),
        "the count with k² instead of k": w * w * n * d * d,
        "the count of a separable convolution": w * n * d + n * d * d,
        "the count without the positions whose kernel extends past the ends": (
            w * (n - w + 1) * d * d
        ),
        "twice the count, as if there were two products": 2 * w * n * d * d,
    }
    separable = {
        "the count of only the kernels: the d x d matrix is missing": w * n * d,
        "the count of only the d x d matrix: the kernels are missing": n * d * d,
        "the product of the two parts instead of their sum": w * n * d * n * d * d,
        "the count of a convolution that is not separable": w * n * d * d,
        "the count with one kernel shared by all channels": w * n + n * d * d,
        "the count with the matrix only once, not at each position": w * n * d + d * d,
    }
    return {
        "recurrent": recurrent,
        "convolution": convolution,
        "dilated_convolution": convolution,
        "separable_convolution": separable,
    }


def cost_mistakes(kind: str, n: int, d: int, w: int) -> dict[str, int]:
    """Return wrong multiply-adds of a layer, keyed by the name of the mistake."""
    named = {**attention_costs(n, d, w), **other_costs(n, d, w)}[kind]
    right = reference.layer_cost(kind, n, d, w)
    general = {
        "twice the count: a multiply-add counts as one operation, not as two": (
            2 * right
        ),
        "the count with n and d swapped": reference.layer_cost(kind, d, n, w),
        "the count with a width of 3, regardless of `width`": reference.layer_cost(
            kind, n, d, 3
        ),
        "the count with an even width rounded up to an odd one": reference.layer_cost(
            kind, n, d, w // 2 * 2 + 1
        ),
        "the count for one position, not for all n": right // n,
        "only the length n": n,
    }
    cut = {
        "the count with the width limited to the sentence length: count all k or r": (
            reference.layer_cost(kind, n, d, min(n, w))
        ),
    }
    return telling(cut | named | general, right)


def telling(named: dict[str, Any], right: Any) -> dict[str, Any]:
    """Return the mistakes whose value differs from all others and the right value."""
    values = [*named.values(), right]
    return {phrase: value for phrase, value in named.items() if values.count(value) < 2}


def _existing(n: int, d: int, r: int) -> int:
    side = (r - 1) // 2
    pairs = sum(abs(i - j) <= side for i in range(n) for j in range(n))
    return 2 * pairs * d


def expect_costs(student, draw, *kinds: str) -> None:
    """Compare the student's counts for layers of these kinds with the right ones."""
    halves = {kind: distinct(draw, 2, HALVES[kind]) for kind in kinds}
    sizes = distinct(draw, 2 * len(kinds))
    for kind in kinds:
        d, w = sizes.pop(), sizes.pop()
        n = 2 * halves[kind].pop()  # the sentence is longer than any neighbourhood
        expect_cost(student, kind, n, d, w)


def expect_cost(student, kind: str, n: int, d: int, w: int) -> None:
    """Compare one count with the right count."""
    got, want = (place.layer_cost(kind, n, d, w) for place in (student, reference))
    named: dict[str, Any] = cost_mistakes(kind, n, d, w)
    named[FIXED] = lambda: as_number(student.layer_cost(kind, n + 1, d + 1, w + 2))
    expect_whole(got, want, Phrase("The cost of {kind}", kind), named)


def as_number(got: Any) -> Any:
    """Return the number in a tensor with one number, or any other value unchanged."""
    is_one = isinstance(got, torch.Tensor) and got.numel() == 1
    return got.item() if is_one else got


def expect_whole(got: Any, want: Any, what: str, mistakes: dict[str, Any]) -> None:
    """Compare numbers or lists of numbers exactly; a tensor may contain the number."""
    got = as_number(got)
    if not isinstance(got, (int, float, list)) or isinstance(got, bool):
        fail(
            Phrase(
                "{what} should be a number, but it is {found}.", what, describe(got)
            ),
            mistake=NO_NUMBER,
        )
    expect_equal(got, want, what, mistakes)


@check("layer-cost", share=2, title="Self-attention: scores and weighted sum")
def test_cost_of_self_attention(student, draw):
    expect_costs(student, draw, "self_attention", "self_attention")


@check("layer-cost", share=1, title="Restricted attention: r keys for each query")
def test_cost_of_restricted_attention(student, draw):
    expect_costs(student, draw, "restricted_attention", "restricted_attention")


@check("layer-cost", share=2, title="A recurrent layer: two products for each token")
def test_cost_of_recurrent(student, draw):
    expect_costs(student, draw, "recurrent", "recurrent")


@check("layer-cost", share=2, title="A convolution, dilated or not")
def test_cost_of_convolutions(student, draw):
    expect_costs(student, draw, "convolution", "dilated_convolution")


@check("layer-cost", share=2, title="A separable convolution")
def test_cost_of_separable(student, draw):
    expect_costs(student, draw, "separable_convolution", "separable_convolution")


@check("layer-cost", share=1, title="Any sizes, and the default width")
def test_cost_of_other_sizes(student, draw):
    d = draw.choice((29, 31, 37))
    for kind in reference.LAYER_KINDS:
        long = partial(expect_cost, student, kind, 16, d, 7)
        with blame(
            "code that works only if the sentence is longer than the width: "
            "count all k or r",
            long,
        ):
            got = student.layer_cost(kind, 2, d, 7)
            want = reference.layer_cost(kind, 2, d, 7)
            named = cost_mistakes(kind, 2, d, 7)
            expect_whole(
                got, want, Phrase("The cost of {kind} on two tokens", kind), named
            )
        given = partial(expect_cost, student, kind, 10, d, 3)
        with blame("code that does not use the default width of 3", given):
            got = student.layer_cost(kind, 10, d)
            want = reference.layer_cost(kind, 10, d)
            named = cost_mistakes(kind, 10, d, 3)
            what = Phrase("The cost of {kind} with the default width", kind)
            expect_whole(got, want, what, named)
        with blame("code that works only for sizes above 1", long):
            for sizes in ((1, d, 7), (16, 1, 7), (16, d, 1), (1, 1, 1)):
                expect_cost(student, kind, *sizes)
        if "convolution" in kind:
            expect_cost(student, kind, 16, d, 8)
    usual = partial(expect_cost, student, "convolution", 16, d, 7)
    with blame(SOME_SIZES, usual):
        small = product((2, 3, 4, 5, 8), repeat=3)
        expect_costs_of_sizes(student, [*small, (2, 3, 40), (3, 2, 100)])


def expect_costs_of_sizes(student, sizes: Iterable[tuple[int, ...]]) -> None:
    """Compare the counts of all kinds for sizes n, d, and k or r."""
    calls = list(product(reference.LAYER_KINDS, sizes))
    names, what = ("length", "d_model", "width"), "The cost of {kind}"
    every = [(kind, *three) for kind, three in calls]
    expect_whole_numbers(student, "layer_cost", every, names, what)


def expect_whole_numbers(
    student,
    name: str,
    calls: Sequence[tuple],
    names: Sequence[str],
    what: str,
) -> None:
    """Compare the counts for many kinds and sizes, which a failure's message shows.

    Args:
        student: the fixture.
        name: the function's name.
        calls: a kind and sizes for each call.
        names: the names of the sizes.
        what: the name of the count, with a place for the kind.
    """
    results = student.calls_in_turn(getattr(student, name), *calls)
    for (kind, *sizes), (got, _) in zip(calls, results, strict=True):
        given = zip(names, sizes, strict=True)
        shown = ", ".join(f"{name} = {size}" for name, size in given)
        whose = Phrase("With {sizes}, {what}", shown, Phrase(what, kind))
        want = getattr(reference, name)(kind, *sizes)
        expect_whole(got, want, whose, {})


LARGE_SIZES = (
    (5_001, 4, 2_003),
    (70_000, 5, 70_000),
    (50, 70_001, 40),
    (70_002, 6, 200),
    (30, 40, 27),
)  # in some orders and with some factors in common


@check("layer-cost", share=1, title="Exact counts for large sizes")
def test_cost_of_large_sizes(student):
    for kind in reference.LAYER_KINDS:
        usual = partial(expect_cost, student, kind, 16, 5, 7)
        words = "numbers with too few digits: use Python's integers"
        with blame(words, usual):
            got = student.layer_cost(kind, 65_537, 4_099, 9)
            want = reference.layer_cost(kind, 65_537, 4_099, 9)
            expect_whole(
                got, want, Phrase("The cost of {kind} at a large size", kind), {}
            )
    with blame(words, usual):
        expect_costs_of_sizes(student, LARGE_SIZES)


def expect_counts_anew(
    student,
    function: Any,
    right: Callable[..., int],
    calls: Sequence[tuple],
    what: str,
) -> None:
    """Fail unless each call depends only on its own arguments and leaves no traces.

    Args:
        student: the fixture.
        function: the student's function.
        right: the reference solution.
        calls: the arguments. Each call differs from the previous call in one argument.
        what: the name of the count.
    """
    results = student.calls_in_turn(function, *calls)
    earlier: dict[str, Any] = {}
    for (then, now), call in zip(results, calls, strict=True):
        want = right(*call)
        expect_whole(
            then, want, Phrase("In one of several calls, {what}", what), earlier
        )
        expect_whole(now, want, Phrase("After further calls, {what}", what), {})
        earlier = {KEPT: want}
    expect_no_traces(student, function, *calls[0], still=True)


def there_and_back(steps: Sequence[tuple]) -> list[tuple]:
    """Combine each kind with the sizes, in reverse order for every second kind."""
    return [
        (kind, *sizes)
        for number, kind in enumerate(reference.LAYER_KINDS)
        for sizes in (steps[::-1] if number % 2 else steps)
    ]


@check("layer-cost", share=1, title="Each call has its own result")
def test_cost_of_each_call(student, draw):
    n, other_n = distinct(draw, 2, (29, 31, 37, 41))  # used by no other check
    d, other_d = distinct(draw, 2, (43, 47, 53, 59))
    steps = [(n, d, 25), (n, d, 27), (n, other_d, 27), (other_n, other_d, 27)]
    calls = there_and_back(steps)
    function, right = student.layer_cost, reference.layer_cost
    expect_counts_anew(student, function, right, calls, "the cost")


# --- path_length ------------------------------------------------------------------


def layers_of_dilated(n: int, k: int) -> int:
    """Return the number of layers that connect n positions."""
    layers = 1
    while k**layers < n:
        layers += 1
    return layers


Steps = dict[str, Callable[[int], float]]  # functions of the length


def path_mistakes(kind: str, w: int) -> Steps:
    """Return wrong numbers of steps, keyed by the name of the mistake."""
    named = {
        "self_attention": {
            "the distance between the two positions": lambda n: n - 1,
            "0: a direct connection between two positions is one step": lambda n: 0,
            "the number of positions": lambda n: n,
        },
        "recurrent": {
            "the number of positions, although the path is one step shorter": (
                lambda n: n
            ),
            "1: it is one layer, but the state takes one step per position": (
                lambda n: 1
            ),
            "the number of positions strictly between the two": lambda n: n - 2,
        },
        "restricted_attention": restricted_paths(w),
        "convolution": convolution_paths(w),
        "dilated_convolution": dilated_paths(w),
        "separable_convolution": convolution_paths(w),
    }
    right = {
        "the result with a width of 3, regardless of `width`": lambda n: (
            reference.path_length(kind, n, 3)
        ),
    }
    return named[kind] | right


def restricted_paths(w: int) -> Steps:
    """Return wrong steps of restricted attention, keyed by the name of the mistake."""
    side = (w - 1) // 2
    return {
        "n / r, rounded up: a step reaches (r - 1) / 2 positions on one side": (
            lambda n: math.ceil(n / w)
        ),
        "steps of r positions": lambda n: math.ceil((n - 1) / w),
        "steps of r - 1 positions: r counts both sides together": (
            lambda n: math.ceil((n - 1) / (w - 1))
        ),
        "n / ((r - 1) / 2), rounded up: the path is n - 1 positions long": (
            lambda n: math.ceil(n / side)
        ),
        "the result rounded down: a partial last step counts too": (
            lambda n: (n - 1) // side
        ),
        "the result without rounding": lambda n: (n - 1) / side,
        "steps of (r + 1) / 2 positions": lambda n: math.ceil((n - 1) / (side + 1)),
        "steps of r / 2 positions": lambda n: math.ceil((n - 1) / (w / 2)),
    }


def convolution_paths(w: int) -> Steps:
    """Return wrong steps of convolutions, dense or separable, keyed by name."""
    side = (w - 1) // 2
    return {
        "n / k, rounded up: a step reaches back k - 1 positions": (
            lambda n: math.ceil(n / w)
        ),
        "steps of k positions": lambda n: math.ceil((n - 1) / w),
        "n / (k - 1), rounded up: the path is n - 1 positions long": (
            lambda n: math.ceil(n / (w - 1))
        ),
        "steps of (k - 1) / 2 positions, as if the kernel covered both sides": (
            lambda n: math.ceil((n - 1) / side)
        ),
        "the result rounded down: a partial last step counts too": (
            lambda n: (n - 1) // (w - 1)
        ),
        "the result without rounding": lambda n: (n - 1) / (w - 1),
        "the distance between the two positions": lambda n: n - 1,
        "the number of layers of a dilated convolution": lambda n: layers_of_dilated(
            n, w
        ),
    }


def dilated_paths(w: int) -> Steps:
    """Return wrong numbers of layers of dilated convolutions, keyed by name."""
    return {
        "the number of layers of a convolution that is not dilated": (
            lambda n: math.ceil((n - 1) / (w - 1))
        ),
        "the logarithm rounded down": lambda n: math.floor(math.log(n) / math.log(w)),
        "the logarithm without rounding": lambda n: math.log(n, w),
        "the logarithm to the base 2": lambda n: math.ceil(math.log2(n)),
        "the natural logarithm, rounded up": lambda n: math.ceil(math.log(n)),
        "the logarithm of n - 1: l layers reach k^l positions": lambda n: max(
            1, layers_of_dilated(n - 1, w)
        ),
        "one layer too many at powers of k, as happens with an inexact "
        "logarithm": lambda n: layers_of_dilated(n + 1, w),
        "the number of layers with a dilation of 2^l, regardless of k": lambda n: (
            _doubled(n, w)
        ),
        "the result with one layer too many": lambda n: layers_of_dilated(n, w) + 1,
        "n / k, rounded up": lambda n: math.ceil(n / w),
        "the sum of the dilations, not the number of layers": lambda n: sum(
            w**layer for layer in range(layers_of_dilated(n, w))
        ),
    }


def _doubled(n: int, k: int) -> int:
    layers, seen = 0, 1
    while seen < n:
        seen += (k - 1) * 2**layers
        layers += 1
    return layers


def wrong_paths(kind: str, lengths: list[int], width: int) -> dict[str, list[float]]:
    """Return each mistake's results for these lengths, if they are defined."""
    want = [reference.path_length(kind, n, width) for n in lengths]
    found = {}
    for phrase, function in path_mistakes(kind, width).items():
        with suppress(ZeroDivisionError):
            found[phrase] = [function(n) for n in lengths]
    return telling(found, want)


def expect_paths(
    student,
    kind: str,
    lengths: list[int],
    width: int,
    named: dict[str, list[float]] | None = None,
) -> None:
    """Compare the student's steps at several lengths with the right steps.

    The mistakes in `named` have priority over those of `wrong_paths`.
    """
    got = [as_number(student.path_length(kind, n, width)) for n in lengths]
    want = [reference.path_length(kind, n, width) for n in lengths]
    different = {**(named or {}), **wrong_paths(kind, lengths, width)}
    for value in got:
        expect_whole(value, value, Phrase("The path length of {kind}", kind), {})
    if kind != "self_attention" and len(lengths) > 2:
        different["the same number for every length"] = got[:1] * len(got)
    expect_equal(got, want, Phrase("The path length of {kind}", kind), different)


def telling_lengths(draw, width: int, step: int, below: int = 9) -> list[int]:
    """Draw lengths that end at a step, one before it, or one after it.

    The shorter lengths need fewer steps than `below`.
    """
    whole = draw.integer(4, below) * step + 1
    long = width * draw.integer(30, 40)  # so long that wrong steps give other results
    return [whole - 1, whole, whole + 1, width * draw.integer(4, below) + 1, 2, long]


@check("path-length", share=1, title="Self-attention: always one step", form=True)
def test_path_of_self_attention(student, draw):
    lengths = [2, draw.integer(5, 20), 1000]
    expect_paths(student, "self_attention", lengths, 5)


@check(
    "path-length",
    share=1,
    title="A recurrent layer: one step from each state to the next",
)
def test_path_of_recurrent(student, draw):
    lengths = [2, draw.integer(5, 20), draw.integer(30, 50)]
    expect_paths(student, "recurrent", lengths, 6)  # no other kind uses this width


@check(
    "path-length",
    share=2,
    title="Restricted attention: (r - 1) / 2 positions on each side",
)
def test_path_of_restricted_attention(student, draw):
    width = draw.choice([9, 11, 19])  # no other kind uses it
    lengths = telling_lengths(draw, width, (width - 1) // 2)
    expect_paths(student, "restricted_attention", lengths, width)


@check(
    "path-length",
    share=2,
    title="Convolutions, separable or not, reach back k - 1 positions",
)
def test_path_of_convolutions(student, draw):
    for kind in ("convolution", "separable_convolution"):
        width = draw.choice([13, 15, 17])  # not 5: half of 5 gives the result for 3
        lengths = telling_lengths(draw, width, width - 1)
        expect_paths(student, kind, lengths, width)
        lengths = telling_lengths(draw, 8, 7, below=6)  # none of the first but 2
        words = "steps of k positions if k is even, but not if k is odd"
        as_odd: dict[str, list[float]] = {
            words: [math.ceil((n - 1) / 8) for n in lengths]
        }
        expect_paths(student, kind, lengths, 8, as_odd)


@check("path-length", share=2, title="Dilated convolutions: the reach grows as k^l")
def test_path_of_dilated_convolution(student, draw):
    width = draw.choice([4, 7])  # the logarithms of its powers are exact
    power = width ** draw.integer(2, 4)
    lengths = [power - 1, power, power + 1, 2 * power, 2, width, width + 1]
    expect_paths(student, "dilated_convolution", lengths, width)


@check("path-length", share=1, title="Lengths at powers of k, including large ones")
def test_path_at_powers(student):
    for width, power in ((5, 3), (6, 3), (3, 5), (8, 3), (10, 3), (7, 6)):
        lengths = [width**power, width**power + 1]
        expect_paths(student, "dilated_convolution", lengths, width)
    words = "a logarithm that is rounded or slightly reduced: use whole numbers"
    usual = partial(expect_paths, student, "dilated_convolution", [63, 64, 65], 4)
    with blame("a bound on the number of layers", usual):
        for width, layers in ((2, 40), (3, 20)):
            large = [width**layers, width**layers + 1]
            named: dict[str, list[float]] = {words: [layers, layers]}
            expect_paths(student, "dilated_convolution", large, width, named)


@check("path-length", share=1, title="Any sizes, and the default width")
def test_path_of_smallest_widths(student, draw):
    n = draw.integer(10, 30)
    for kind in ("convolution", "dilated_convolution", "separable_convolution"):
        wide = partial(expect_paths, student, kind, [n, 26, 126], 5)
        with blame("code that needs a kernel wider than 2", wide):
            expect_paths(student, kind, [n, 8, 9, 16, 27], 2)
    for kind in reference.LAYER_KINDS:
        lengths = [n, 9, 10, 16, 27]
        expect_paths(student, kind, lengths, 3)
        with blame("code that does not use the default width of 3"):
            got = [as_number(student.path_length(kind, n)) for n in lengths]
            want = [reference.path_length(kind, n) for n in lengths]
            wrong = wrong_paths(kind, lengths, 3)
            expect_whole(
                got,
                want,
                Phrase("The path length of {kind} with the default width", kind),
                wrong,
            )
    usual = partial(expect_paths, student, "convolution", [n, 9, 10, 16, 27], 3)
    with blame(SOME_SIZES, usual):
        names, what = ("length", "width"), "The path length of {kind}"
        expect_whole_numbers(student, "path_length", other_paths(), names, what)


def other_paths() -> list[tuple[str, int, int]]:
    """Return calls with short lengths and small widths, and with larger ones."""
    lengths, widths = (2, 3, 4, 5, 8), (1, 2, 3, 4, 5, 7, 8, 9)
    sizes = [*product(lengths, widths), (100, 101), (101, 101), (102, 101)]
    sizes += [(1_105, 69), (257, 2), (201, 3), (17, 2_049)]
    least = dict.fromkeys(reference.LAYER_KINDS, 2) | {"restricted_attention": 3}
    least |= {"self_attention": 1, "recurrent": 1}
    return [
        (kind, n, width)
        for kind in reference.LAYER_KINDS
        for n, width in sizes
        if width >= least[kind]
        and (width % 2 or kind != "restricted_attention")
        and (n < 1_000 or kind != "recurrent")  # short enough for recursive code
    ]


@check("path-length", share=1, title="Each call has its own result")
def test_path_of_each_call(student):
    # No other check uses these lengths, and a step ends exactly at the last position.
    # The longest length is short enough for recursive code.
    calls = there_and_back([(241, 13), (241, 17), (337, 17)])
    function, right = student.path_length, reference.path_length
    expect_counts_anew(student, function, right, calls, "the path length")


# --- restricted_mask --------------------------------------------------------------


def band_mistakes(n: int, r: int) -> Mistakes:
    """Return wrong masks, keyed by the name of the mistake."""
    band = reference.restricted_mask(n, r)
    named = {**width_mistakes(n, r), **side_mistakes(n, r), **shape_mistakes(n, r)}
    return {
        phrase: wrong
        for phrase, wrong in named.items()
        if wrong.shape != band.shape or not wrong.equal(band)
    }


def offsets(n: int) -> torch.Tensor:
    """Return each key's position minus the query's position, (1, 1, n, n)."""
    place = torch.arange(n)
    return (place[None, :] - place[:, None])[None, None]


def width_mistakes(n: int, r: int) -> dict[str, torch.Tensor]:
    """Return bands of a wrong width, and their opposites, keyed by name."""
    away, side = offsets(n).abs(), (r - 1) // 2
    return {
        "a band of r positions on each side: r counts both sides and the token": (
            away <= r
        ),
        "a band of r - 1 positions on each side: r counts both sides": away <= r - 1,
        "a band that is one position too narrow on each side (`<` instead of `<=`)": (
            away < side
        ),
        "a band that is one position too wide on each side": away <= side + 1,
        "the opposite: True for keys that are not neighbours": away > side,
        "the opposite: True outside the band and at its edge": away >= side,
        "8-bit positions, which wrap from 127 to -128": (
            offsets(n).to(torch.int8).abs() <= side
        ),
    }


def side_mistakes(n: int, r: int) -> dict[str, torch.Tensor]:
    """Return bands that are not symmetric or lack the diagonal, keyed by name."""
    offset, side = offsets(n), (r - 1) // 2
    band = offset.abs() <= side
    return {
        "a band without the token itself": band & (offset != 0),
        "a band of the last r positions: the token should be in the middle": (
            (offset <= 0) & (offset > -r)
        ),
        "a band of the next r positions: the token should be in the middle": (
            (offset >= 0) & (offset < r)
        ),
        "a band that is cut off above the diagonal, as in the decoder": (
            band & (offset <= 0)
        ),
        "a band that is cut off below the diagonal": band & (offset >= 0),
        "a band without its upper edge": (offset < side) & (offset >= -side),
        "a band without its lower edge": (offset <= side) & (offset > -side),
    }


def shape_mistakes(n: int, r: int) -> dict[str, torch.Tensor]:
    """Return masks that have wrong ends or a wrong shape, keyed by name."""
    place, away, side = torch.arange(n), offsets(n).abs(), (r - 1) // 2
    band = away <= side
    start = (place - side).clamp(0, max(n - r, 0))[:, None]
    window = (place >= start) & (place < start + r)
    return {
        "blocks of r tokens, not neighbourhoods": (
            place[:, None] // r == place[None, :] // r
        )[None, None],
        "r keys for every query, shifted at the ends, where there should "
        "be fewer keys": window[None, None],
        "a band whose first rows are empty: a slice with a negative start counts from "
        "the end": band & (place[:, None] >= side),
        "a band that continues at the other end, as on a ring": band
        | (away >= n - side),
        "a mask that hides nothing": torch.ones_like(band),
        "a mask of the shape (t, t) instead of (1, 1, t, t)": band[0, 0],
        "a mask of the shape (1, t, t) instead of (1, 1, t, t)": band[0],
    }


def expect_band(student, n: int, r: int) -> None:
    """Compare the student's mask with the right mask, for a t much larger than r."""
    got = student.restricted_mask(n, r)
    if not isinstance(got, torch.Tensor):
        fail(
            Phrase(
                "The restricted mask should be a tensor, but it is {found}.",
                describe(got),
            ),
            mistake="something other than a tensor",
        )
    want = reference.restricted_mask(n, r)
    expect_mask(got, want, "The restricted mask", band_mistakes(n, r))


@check("restricted-mask", share=1, title="The shape is (1, 1, t, t)", form=True)
def test_restricted_shape(student, draw):
    n = draw.integer(6, 10)
    expect_shape(student.restricted_mask(n, 3), (1, 1, n, n), "The restricted mask")


@check("restricted-mask", share=3, title="r positions with the token in the middle")
def test_restricted_values(student, draw):
    for r, n in ((5, draw.integer(11, 15)), (7, draw.integer(16, 20))):
        expect_band(student, n, r)


@check(
    "restricted-mask",
    share=1,
    title="The same length with a different r, and a long sentence",
)
def test_restricted_each_call(student):
    n = 37  # no other check uses this length
    calls = [(n, 9), (n + 2, 9), (n + 2, 11), (n + 2, 15)]
    results = student.calls_in_turn(student.restricted_mask, *calls)
    (first, _), (second, _), *_ = results  # with different lengths
    earlier: dict[str, torch.Tensor] = {}
    if isinstance(first, torch.Tensor) and first.equal(second):
        earlier = {FIXED: first}
    for (then, now), (length, r) in zip(results, calls, strict=True):
        want = reference.restricted_mask(length, r)
        named = {**earlier, **band_mistakes(length, r)}
        expect_mask(then, want, "The restricted mask", named)
        expect_mask(now, want, "The mask after further calls", {})
        earlier = {KEPT: want}
    expect_no_traces(student, student.restricted_mask, *calls[0], still=True)
    with blame("a table with too few positions", partial(expect_band, student, n, 5)):
        for length, r in ((1030, 5), (130, 121), (300, 257)):
            expect_band(student, length, r)


@check("restricted-mask", share=1, title="Any t and r, such as r = 1 and r above t")
def test_restricted_extremes(student, draw):
    n = draw.integer(4, 8)
    for length, r in ((n, 1), (n, 2 * n + 3), (1, 3), (n, n + 1 - n % 2)):
        with blame(
            "code that works only for 1 < r < t", partial(expect_band, student, 26, 5)
        ):
            got = student.restricted_mask(length, r)
            want = reference.restricted_mask(length, r)  # too small to show mistakes
            expect_mask(
                got, want, Phrase("The mask for t = {length}, r = {r}", length, r), {}
            )
    calls = [*product((1, 2, 3, 4, 5, 6, 8), (1, 3, 5, 7, 9, 15))]
    calls.append((6, 1_001))
    with blame(SOME_SIZES, partial(expect_band, student, 26, 5)):
        results = student.calls_in_turn(student.restricted_mask, *calls)
        for (length, r), (got, _) in zip(calls, results, strict=True):
            whose = Phrase("The mask for t = {length}, r = {r}", length, r)
            expect_mask(got, reference.restricted_mask(length, r), whose, {})


def expect_worked_out(mask: torch.Tensor) -> None:
    """Fail if a mask has one value everywhere; other checks compare the entries."""
    if bool(mask.all()) or not bool(mask.any()):
        fail(
            "The restricted mask has the same value everywhere.",
            mistake="a mask that hides nothing, or everything",
        )


@check("restricted-mask", share=1, title="The mask contains bools", form=True)
def test_restricted_is_bool(student, draw):
    mask = student.restricted_mask(draw.integer(4, 8), 3)
    expect_bool(mask, "The restricted mask")
    expect_worked_out(mask)


@check(
    "restricted-mask",
    share=1,
    title="The mask is on the requested device",
    form=True,
)
def test_restricted_device(student):
    expect_worked_out(student.restricted_mask(5, 3))
    expect_on_cpu(student, lambda: student.restricted_mask(5, 3, "cpu"), "The mask")
    cpu = torch.device("cpu")
    expect_on_cpu(
        student, lambda: student.restricted_mask(5, 3, device=cpu), "The mask"
    )
    want = reference.restricted_mask(8, 5)
    expect_mask(student.restricted_mask(8, 5, "cpu"), want, "The mask", {})
    expect_mask(student.restricted_mask(8, 5, device=cpu), want, "The mask", {})
    elsewhere = None
    with suppress(StudentError):  # the meta device has no values
        function = student.restricted_mask
        elsewhere = expect_no_traces(student, function, 5, 3, "meta", still=True)
    if isinstance(elsewhere, torch.Tensor):
        fail("The mask is on the CPU instead of the requested device.", ON_CPU)


# --- alignment_error_rate ---------------------------------------------------------


def draw_links(draw, count: int, low: int = 0) -> Links:
    """Draw different links of a sentence; their numbers are at least `low`."""
    order = draw.uniform(30).argsort()[:count] + low
    return {(int(number) // 8, int(number) % 8) for number in order}


AnyLinks = Set[Hashable]
Rates = dict[str, Callable[[], float]]


def rate_mistakes(a: AnyLinks, s: AnyLinks, p: AnyLinks) -> Rates:
    """Return wrong alignment error rates, keyed by the name of the mistake."""
    right = reference.alignment_error_rate(a, s, p)
    both = len(a & s) + len(a & p)

    def harmonic() -> float:
        precision, recall = len(a & p) / len(a), len(a & s) / len(s)
        return 1 - 2 * precision * recall / (precision + recall)

    return {
        "1 minus the rate, which measures quality instead of error": lambda: 1 - right,
        PER_CENT: lambda: 100 * right,
        "the fraction of predicted links that are not possible": lambda: (
            1 - len(a & p) / len(a)
        ),
        "the fraction of sure links that were not found": lambda: (
            1 - len(a & s) / len(s)
        ),
        "the fraction of predicted links that are not sure": lambda: (
            1 - len(a & s) / len(a)
        ),
        "the rate with S and P swapped": lambda: 1 - both / (len(a) + len(p)),
        **numerator_mistakes(a, s, p),
        **denominator_mistakes(a, s, p),
        "1 minus the harmonic mean of precision and recall": harmonic,
        "1 minus the arithmetic mean of precision and recall": lambda: (
            1 - (len(a & p) / len(a) + len(a & s) / len(s)) / 2
        ),
        "the rate with unions instead of intersections": lambda: (
            1 - (len(a | s) + len(a | p)) / (len(a) + len(s))
        ),
        "only the integer part (`//` instead of `/`)": lambda: (
            1 - both // (len(a) + len(s))
        ),
        "the rate rounded to two digits": lambda: round(right, 2),
    }


def numerator_mistakes(a: AnyLinks, s: AnyLinks, p: AnyLinks) -> Rates:
    """Return rates with wrong links in the numerator, keyed by name."""
    return {
        "the rate without the possible links: 2 |A ∩ S| in the numerator": lambda: (
            1 - 2 * len(a & s) / (len(a) + len(s))
        ),
        "the rate with 2 |A ∩ P| in the numerator": lambda: (
            1 - 2 * len(a & p) / (len(a) + len(s))
        ),
        "the rate without possible links: 2 |A ∩ P| / (|A| + |P|)": lambda: (
            1 - 2 * len(a & p) / (len(a) + len(p))
        ),
        "the rate with only |A ∩ S| in the numerator": lambda: (
            1 - len(a & s) / (len(a) + len(s))
        ),
        "the rate with only |A ∩ P| in the numerator, or with P without S": lambda: (
            1 - len(a & p) / (len(a) + len(s))
        ),
    }


def denominator_mistakes(a: AnyLinks, s: AnyLinks, p: AnyLinks) -> Rates:
    """Return rates with wrong links in the denominator, keyed by name."""
    both = len(a & s) + len(a & p)
    return {
        "the rate divided by the number of links in A or in S": lambda: (
            1 - both / len(a | s)
        ),
        "Jaccard's distance: the fraction of A ∪ S that is not in both": lambda: (
            1 - len(a & s) / len(a | s)
        ),
        "the rate with only |S| in the denominator": lambda: 1 - both / len(s),
        "the rate with only |A| in the denominator": lambda: 1 - both / len(a),
        "the rate without parentheses: all of |A| + |S| belongs in the denominator": (
            lambda: 1 - both / len(a) + len(s)
        ),
        "the rate divided by |A| + |S| + |P|": lambda: (
            1 - both / (len(a) + len(s) + len(p))
        ),
    }


def rounded(right: float) -> dict[str, float]:
    """Return rates that are right except for rounding, keyed by name."""
    return {
        "the rate rounded to three digits": round(right, 3),
        "the rate rounded to four digits": round(right, 4),
        "the rate in half precision": torch.tensor(right).half().item(),
    }


def links_of(draw, count: int, found: int) -> tuple[Links, Links, Links]:
    """Draw `count` sure links and `found` predicted links.

    Their total is a different prime number in each call, so no two calls have the same
    rate. With the callers' fixed seeds, each mistake gives a different rate.
    """
    sure = draw_links(draw, count)
    possible = sure | draw_links(draw, draw.integer(8, 12))
    return draw_links(draw, found), sure, possible


def expect_rate(student, sets: tuple[Links, Links, Links], what: str) -> None:
    """Compare the student's rate with the right rate."""
    got = student.alignment_error_rate(*sets)
    fixed: dict[str, Any] = {FIXED: partial(rate_of_others, student, *sets)}
    compare_rate(got, sets, what, fixed)


def compare_rate(
    got: Any, sets: tuple[Links, Links, Links], what: str, named: dict[str, Any]
) -> None:
    """Compare a rate with the right rate; the mistakes in `named` have priority."""
    want = reference.alignment_error_rate(*sets)
    if not isinstance(got, (int, float, torch.Tensor)):
        fail(
            Phrase(
                "{what} should be a number, but it is {found}.", what, describe(got)
            ),
            NO_NUMBER,
        )
    known: dict[str, float] = {}
    for phrase, rate in rate_mistakes(*sets).items():
        with suppress(ZeroDivisionError):
            known[phrase] = round(rate(), 9)
    known = telling(known, round(want, 9)) | rounded(want)
    number = float(got) if isinstance(got, (int, float)) else got
    expect_close(number, want, what, named | known)


def rate_of_others(student, predicted: Links, sure: Links, possible: Links) -> Any:
    """Return the student's rate for right links if wrong links have the same rate."""
    others = {(i + 100, j) for i, j in predicted}
    none = student.alignment_error_rate(others, sure, possible)
    every = student.alignment_error_rate(sure, sure, possible)
    return every if every == none else None


@check("alignment-error-rate", share=4, title="Sure, possible and other links")
def test_rate_of_links(student, draw):
    for sets in (links_of(draw.fixed(8), 7, 12), links_of(draw.fixed(14), 8, 15)):
        expect_rate(student, sets, "The alignment error rate")


@check(
    "alignment-error-rate",
    share=1,
    title="0 for a perfect alignment, 1 for no common links",
)
def test_rate_of_extremes(student, draw):
    sure = draw_links(draw, 6)
    possible = sure | draw_links(draw, 9)
    expect_rate(
        student, (sure, sure, possible), "The rate if we predict the sure links"
    )
    expect_rate(
        student, (possible, sure, possible), "The rate if we predict the possible links"
    )
    others = {(i + 100, j) for i, j in sure}
    expect_rate(
        student, (others, sure, possible), "The rate if we predict only other links"
    )


@check("alignment-error-rate", share=1, title="No predicted links, or no sure links")
def test_rate_of_nothing(student, draw):
    links = (draw_links(draw, 6) | {(2, 5)}) - {(5, 2)}
    others = set(sorted(links)[:4]) | {(i + 100, j) for i, j in links} | {(5, 2)}
    nothing = {
        PER_CENT: 100.0,
        "0, although the rate is 1 if nothing is predicted": 0.0,
    }
    with blame_division("predicted"):
        got = student.alignment_error_rate(set(), links, links)
        expect_close(got, 1.0, "The rate if we predict no links", nothing)
    with blame_division("sure"):
        got = student.alignment_error_rate(others, set(), links)
        want = reference.alignment_error_rate(others, set(), links)
        named = {
            PER_CENT: 100 * want,
            "1 if no link is sure, as if possible links did not count": 1.0,
            "0 if no link is sure, as if nothing could be wrong": 0.0,
            "the rate with all possible links taken as sure if no link is sure": (
                reference.alignment_error_rate(others, links, links)
            ),
        }
        expect_close(got, want, "The rate if no link is sure", named)


def blame_division(links: str) -> AbstractContextManager[None]:
    """Report a division by 0 if the code divides by the number of one kind of links."""
    mistake = Phrase("code that divides by the number of {links} links", links)
    return blame_error("ZeroDivisionError", mistake)


@check(
    "alignment-error-rate", share=1, title="Links of any type; the sets do not change"
)
def test_rate_leaves_its_input(student, draw):
    pairs = links_of(draw.fixed(23), 5, 12)
    sets = tuple({(7, i, j, "word") for i, j in links} for links in pairs)
    usual = partial(expect_rate, student, pairs, "The alignment error rate")
    with blame("code that works only for links of two numbers", usual):
        got, after = student.call_and_return_inputs(student.alignment_error_rate, *sets)
        want = reference.alignment_error_rate(*sets)
        named = rate_mistakes(*sets)
        expect_close(got, want, "The rate for longer links", mistakes=named)
    alike: tuple[Links, Links, Links] = {(1, 11), (2, 3)}, {(11, 1)}, {(11, 1), (2, 3)}
    with blame("different links treated as equal: (1, 11) and (11, 1)", usual):
        expect_close(student.alignment_error_rate(*alike), 2 / 3, "The rate")
    with blame("code that works only for links of two numbers", usual):
        for kind in links_of_other_types():
            got = student.alignment_error_rate(*kind)
            expect_close(got, reference.alignment_error_rate(*kind), "The rate")
    with blame(SOME_SIZES, usual):
        for some in links_of_other_sizes():
            got = student.alignment_error_rate(*some)
            expect_close(got, reference.alignment_error_rate(*some), "The rate")
    if list(after) != list(sets):
        fail(
            "Your function changed its input sets: `&=`, `discard` and "
            "`update` change a set in place.",
            mistake="an input is changed in place",
        )


AnySets = tuple[AnyLinks, AnyLinks, AnyLinks]


def links_of_other_types() -> list[AnySets]:
    """Return links that are texts, numbers, pairs of texts, sets or triples.

    Some links differ only in the number of the sentence, and some sets are frozen.
    """
    found, sure, possible = {1, 2, 3, 4}, {2, 3, 7}, {2, 3, 7, 4, 9}
    names = ["zero", "one", "two", "3", "four", "five", "Six", "7", "eight", "größe"]
    types: list[Callable[[int], Hashable]] = [
        lambda i: names[i],
        lambda i: i - 3,
        lambda i: (names[i], names[i - 1]),
        lambda i: frozenset({i, i + 1}),
        lambda i: (i % 4, 5, 6),
        lambda i: (i, 5, 6),
        lambda i: (-i, names[i], i / 2),
        lambda i: (i + 200, i),
    ]
    sets = [{made(i) for i in x} for made in types for x in (found, sure, possible)]
    triples = list(zip(sets[::3], sets[1::3], sets[2::3], strict=True))
    frozen = [(frozenset(a), frozenset(s), frozenset(p)) for a, s, p in triples[::2]]
    return [*triples, *frozen]


def links_of_other_sizes() -> list[AnySets]:
    """Return sets of 0 to 400 links; each is a part of another, or differs from it."""
    a, b, c, d = ({(i, i * i % 7) for i in range(n, n + 3)} for n in (0, 3, 6, 9))
    one = {(2, 4)}
    many = [{(i, i * step) for i in range(0, 1_200, step)} for step in (2, 3, 5)]
    everything = a | b | c | d
    return [
        (one, one, one),
        (one, a, a),
        (a, a | b, a | b),
        (a | b, a, a),
        (a | b | c, a, a | b),
        (a | b, a, a | b),
        (everything, a | b, a | b),
        (b | c, a, a | b),
        (a | d, a | b, a | b | c),
        (everything, one, one),
        (one, a | b, everything),
        (a, set(), a | b),
        (a, set(), set()),
        (many[0] | many[1], many[1] | many[2], many[0] | many[1] | many[2]),
        (many[2], many[0], many[0] | many[1]),
    ]


def some_of(draw, links: Links, count: int) -> Links:
    """Draw `count` of these links."""
    order, listed = draw.uniform(len(links)).argsort(), sorted(links)
    return {listed[int(number)] for number in order[:count]}


def links_in_turn(draw) -> list[tuple[Links, Links, Links]]:
    """Draw links for several calls, each of which differs in one set.

    All sets have the same size, so the calls do not differ in sizes, and no other check
    uses these sets. With the fixed seed, no known mistake computes the earlier rate
    from the new sets.
    """
    draw = draw.fixed(77)
    all_links = draw_links(draw, 30)
    possible = some_of(draw, all_links, 22)
    sure, others = (some_of(draw, possible, 12) for _ in range(2))
    predicted, found = (some_of(draw, all_links, 16) for _ in range(2))
    further = others | some_of(draw, all_links - others, 10)
    return [
        (predicted, sure, possible),
        (found, sure, possible),
        (found, others, possible),
        (found, others, further),
    ]


@check("alignment-error-rate", share=1, title="Each call has its own result")
def test_rate_of_each_call(student, draw):
    turns = links_in_turn(draw)
    results = student.calls_in_turn(student.alignment_error_rate, *turns)
    earlier: dict[str, Any] = {}
    for (then, now), sets in zip(results, turns, strict=True):
        compare_rate(then, sets, "In one of several calls, the rate", earlier)
        compare_rate(now, sets, "After further calls, the rate", {})
        earlier = {KEPT: reference.alignment_error_rate(*sets)}
    expect_no_traces(student, student.alignment_error_rate, *turns[0], still=True)
