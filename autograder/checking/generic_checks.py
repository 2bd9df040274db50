"""Check effects that the result of one call does not show.

These effects are values kept for the next call, random numbers, settings, writes into
the inputs, devices and errors. The argument `function` is a name or a handle on the
student's side. For a method, use `method_of`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_gradients
from autograder.checking.compare import describe
from autograder.checking.expect import Mistakes, expect_close, fail
from autograder.checking.failures import StudentError
from autograder.phrases import Phrase

KEPT = "a result kept from an earlier call"
ZEROS = "zeros in all places"
FIXED = Phrase("the same result for different inputs: fixed, or {kept}", KEPT)
ONE_BUFFER = "one tensor for the results of all calls"
FIXED_SEED = "a seed that the code sets itself"
SAME_DRAWS = "the same random numbers in every call"
MADE_ON_CPU = "a tensor made on the CPU, whatever the input's device"
BY_NUMPY = "numpy, which works only on the CPU"
WRITTEN = "an input is changed in place"
NO_ERROR = "a required error that is not raised"
OTHER_ERROR = "an error other than the required one"
RANDOM = (
    "the random state of torch",
    "the random state of Python",
    "the random state of numpy",
)
ORDINALS = (
    Phrase("first"),
    Phrase("second"),
    Phrase("third"),
    Phrase("fourth"),
    Phrase("fifth"),
)
TWO_CALLS = "lambda f: lambda x, y, *rest: f(x, *rest) + f(y, *rest)"
TWO_PARTS = "lambda f: lambda x, y, *rest: f(x, *rest)[{0}] + f(y, *rest)[{0}]"


def method_of(student: Any, handle: Any, name: str) -> Any:
    """Return a method of an object on the student's side; call it like a name."""
    return student.load("builtins.getattr")(handle, name)


def expect_each_call_anew(
    student: Any,
    function: Any,
    calls: Sequence[tuple],
    right: Callable[..., Tensor],
    what: str,
    part: int | None = None,
    mistakes: Mistakes | None = None,
    tolerance: float = 1e-5,
) -> None:
    """Fail unless each call returns its own result, and no later call changes it.

    Args:
        student: the fixture `student`.
        function: the function to call once with each of `calls`, in order.
        calls: the arguments of each call, with equal shapes but different values. To
            test whether results are cached, the values of the second call are also
            written into the tensors of the first call.
        right: returns the right result for the same arguments.
        what: the name of the result, such as "the output".
        part: the index of the result, or None if the call returns only one.
        mistakes: wrong results of all calls except the first, keyed by name.
        tolerance: the tolerance of the comparison.
    """
    results = student.calls_in_turn(function, *calls)
    found = [part_of(then, part) for then, _ in results]
    wanted = [right(*args) for args in calls]
    for number, (got, want) in enumerate(zip(found, wanted, strict=True)):
        named = {KEPT: wanted[number - 1], **(mistakes or {})} if number else {}
        if not number and len(found) > 1 and _same(found[0], found[1]):
            named = {FIXED: got}
        whose = Phrase(
            "In the {ordinal} of several calls, {what}", ORDINALS[number], what
        )
        expect_close(got, want, whose, named, tolerance)
    _expect_kept(results, what, part)
    if len(calls) > 1 and (again := student.call_again(function, *calls[:2])):
        whose = Phrase(
            "With different numbers in the tensors from an earlier call, {what}", what
        )
        got = part_of(again[0], part)
        expect_close(got, wanted[1], whose, {KEPT: wanted[0]}, tolerance)


def _expect_kept(results: Sequence[tuple], what: str, part: int | None) -> None:
    """Fail if a later call changed the result of an earlier call."""
    pairs = [(part_of(then, part), part_of(now, part)) for then, now in results]
    if any(isinstance(a, Tensor) and not _same(a, b) for a, b in pairs):
        fail(
            Phrase(
                "A later call changed {what} that an earlier call returned: both are "
                "the same tensor. Return a new tensor each time.",
                what,
            ),
            mistake=ONE_BUFFER,
        )


def expect_calls_apart(
    student: Any,
    function: Any,
    calls: Sequence[tuple],
    right: Callable[..., Tensor],
    what: str,
    part: int | None = None,
    mistakes: Mistakes | None = None,
) -> None:
    """Fail unless the calls are independent: they keep, overwrite and seed nothing.

    The arguments are the same as for `expect_each_call_anew`. Use sizes that no other
    check uses, so that a result that is kept from another check cannot fit.
    """
    expect_no_traces(student, function, *calls[0])
    expect_each_call_anew(student, function, calls, right, what, part, mistakes)
    expect_no_seed(student, function, *calls[0], part=part)


def expect_no_traces(
    student: Any, function: Any, *args: Any, still: bool = False, **kwargs: Any
) -> Any:
    """Fail if a call writes into an argument or changes a setting; return its result.

    Args:
        student: the fixture `student`.
        function: the function to call once.
        args: the arguments. A write into an argument counts even if its old values are
            restored afterwards.
        still: whether the call must not draw random numbers.
        kwargs: keyword arguments of the call, which are not watched.
    """
    result, changed, written = student.watched_call(function, *args, **kwargs)
    if written:
        fail(
            Phrase(
                "Your function writes into its argument {number}, even if it restores "
                "the values. A method that ends in an underscore, such as "
                "masked_fill_, writes into its tensor, and so does x[...] = y.",
                written[0] + 1,
            ),
            mistake=WRITTEN,
        )
    for setting in changed:
        if still or setting not in RANDOM:
            fail(
                Phrase(
                    "Your call changed {setting}, and all later code runs with this "
                    "change.",
                    setting,
                ),
                mistake=Phrase("a call that changes {setting} for good", setting),
            )
    return result


def expect_no_seed(
    student: Any,
    function: Any,
    *args: Any,
    part: int | None = None,
    draws: bool = False,
    **kwargs: Any,
) -> None:
    """Fail if a call sets a seed instead of using the current random state.

    Args:
        student: the fixture `student`.
        function: the function to call, starting from two different random states.
        args: arguments of the call.
        part: the index of the result, or None if the call returns only one.
        draws: whether the function is random, so that the two results must differ.
        kwargs: keyword arguments of the call.
    """
    runs = student.calls_by_seed(function, *args, seeds=[1, 2], **kwargs)
    (first, state), (second, other_state) = runs
    if state == other_state:
        fail(
            "After a call, the random state is always the same: your code sets a "
            "seed, and all later random numbers repeat.",
            mistake=FIXED_SEED,
        )
    if draws and _same(part_of(first, part), part_of(second, part)):
        fail(
            "Two calls that start from different random states give the same result, "
            "although the result should be random.",
            mistake=SAME_DRAWS,
        )


def expect_same_device(
    student: Any, function: Any, *args: Any, what: str, **kwargs: Any
) -> None:
    """Fail if code creates tensors on the CPU for inputs on another device.

    The check needs no GPU. Code that needs the values of its inputs, for example with
    `.item()` or `if mask.any()`, passes. Modules and tensors in containers are moved
    too.
    """
    try:
        places = student.devices(function, *args, **kwargs)
    except StudentError as error:
        if error.kind != "raised":
            raise
        if "numpy" in error.message:
            fail(
                Phrase(
                    "numpy cannot read a tensor on a GPU{place}. Use functions of "
                    "torch for every step.",
                    error.place,
                ),
                mistake=BY_NUMPY,
            )
        fail(
            Phrase(
                "With the inputs on a GPU, an operation uses tensors on two "
                "devices{place}: one of yours is on the CPU. Make it with "
                "`device=x.device`, or keep it in a buffer.",
                error.place,
            ),
            mistake=MADE_ON_CPU,
        )
    if "cpu" in places:
        fail(
            Phrase(
                "With the inputs on a GPU, {what} is on the CPU: make tensors with "
                "`device=x.device`, or keep them in a buffer.",
                what,
            ),
            mistake=MADE_ON_CPU,
        )


def expect_raises(
    student: Any, function: Any, *args: Any, kind: str, what: str, **kwargs: Any
) -> None:
    """Fail unless a call raises the error that the exercise requires.

    Args:
        student: the fixture `student`.
        function: the function to call.
        args: arguments of the call.
        kind: the class of the error, such as "ValueError"; subclasses are also
            accepted.
        what: the wrong arguments in words, such as "queries and keys of other widths".
        kwargs: keyword arguments of the call.
    """
    raised = student.raised_by(function, *args, **kwargs)
    if not raised and kind == "Exception":
        fail(
            Phrase(
                "For {what}, the exercise asks for an error, but your code raised "
                "none.",
                what,
            ),
            mistake=NO_ERROR,
        )
    if not raised:
        fail(
            Phrase(
                "For {what}, the exercise asks for a {kind}, but your code raised no "
                "error.",
                what,
                kind,
            ),
            mistake=NO_ERROR,
        )
    if kind not in raised:
        found = re.sub(r"\W", "", str(raised[0]))[:60]
        fail(
            Phrase(
                "For {what}, the exercise asks for a {kind}, but your code raised a "
                "{found}.",
                what,
                kind,
                found,
            ),
            mistake=OTHER_ERROR,
        )


def expect_checkpointed(
    student: Any, function: Any, *args: Any, upstream: Tensor, output: int | None = None
) -> None:
    """Fail unless running the call again gives the same result and gradients.

    `torch.utils.checkpoint` does this: it discards the activations and runs the forward
    pass again for the gradient.
    """
    plain = student.gradients(function, *args, upstream=upstream, output=output)
    words = (
        "code that computes something different when PyTorch runs it again for the "
        "gradient"
    )
    with blame(words):
        again = student.gradients(
            function, *args, upstream=upstream, output=output, checkpointed=True
        )
        expect_close(again.output, plain.output, "Under checkpointing, the output")
        pairs = zip(again.inputs, plain.inputs, strict=True)
        named = [(Phrase("argument {n}", n), a, b) for n, (a, b) in enumerate(pairs, 1)]
        named += [(k, again.parameters.get(k), v) for k, v in plain.parameters.items()]
        for whose, got, want in named:
            if want is not None:
                what = Phrase("Under checkpointing, the gradient of {whose}", whose)
                expect_close(got, want, what, tolerance=1e-4)


def expect_gradients_of_two_calls(
    student: Any,
    function: Any,
    first: Tensor,
    second: Tensor,
    right: Callable[..., Tensor],
    upstream: Tensor,
    rest: Sequence[Any] = (),
    part: int | None = None,
) -> None:
    """Fail unless two calls in one graph each get their own gradient.

    Args:
        student: the fixture `student`.
        function: called as `function(first, *rest)` and `function(second, *rest)`.
        first: the input of the first call.
        second: the input of the second call.
        right: the trusted function of one input.
        upstream: the upstream gradient for both calls.
        rest: the remaining arguments.
        part: the index of the result, or None if the call returns only one.
    """
    source = TWO_CALLS if part is None else TWO_PARTS.format(part)
    both = student.load("builtins.eval")(source)(function)
    with blame("a tensor that one call leaves for the next"):
        run = student.gradients(both, first, second, *rest, upstream=upstream)
        expect_gradients(
            run, lambda *xs: right(xs[0]) + right(xs[1]), [first, second], upstream
        )


def part_of(result: Any, part: int | None) -> Any:
    """Return the result with index `part`, or the only result if `part` is None."""
    if part is None:
        return result
    if not isinstance(result, (tuple, list)) or len(result) <= part:
        fail(
            Phrase(
                "You should return several values, but you returned {found}.",
                describe(result),
            )
        )
    return result[part]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return bool(torch.equal(left.nan_to_num(), right.nan_to_num()))
    return type(left) is type(right) and left == right
