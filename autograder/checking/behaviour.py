"""Check a function's behaviour: its gradients, its dtype and its inputs."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checking.compare import describe
from autograder.checking.expect import Mistakes, expect_close, fail
from autograder.checking.failures import CheckFailed, StudentError
from autograder.phrases import Phrase


@contextmanager
def blame(mistake: str, ordinary: Callable[[], object] | None = None) -> Iterator[None]:
    """Add a guess to a failure in the `with` block that names no mistake.

    Use it after the ordinary case has passed, for inputs that reveal one particular
    mistake: inputs of another dtype, without a batch, not contiguous or very large. The
    student reads the guess only if it explains every failed check of values.

    Args:
        mistake: the mistake's phrase, such as "code that works with a batch and heads
            only".
        ordinary: a function that checks the ordinary case. It runs after a failure. If
            it also fails, the cause is another mistake, and no guess is added.
    """
    try:
        yield
    except CheckFailed as failed:
        if failed.mistake or failed.guess or not _passes(ordinary):
            raise
        fail(failed.message, guess=mistake)
    except StudentError as error:
        if error.kind != "raised" or not _passes(ordinary):
            raise
        raise CheckFailed(error.message, None, mistake, error.place) from None


@contextmanager
def blame_error(part: str, mistake: str) -> Iterator[None]:
    """Name the mistake if the message of an error contains `part`.

    `part` must occur only in the messages of errors with this cause.
    """
    try:
        yield
    except StudentError as error:
        if part not in error.message:
            raise
        fail(looks_like(error.message, mistake), mistake)


def looks_like(message: str, mistake: str) -> str:
    """Return the message of an error, followed by the mistake that it looks like."""
    if message.endswith((".", "!", "?")):
        return Phrase("{message} This looks like {mistake}.", message, mistake)
    return Phrase("{message}. This looks like {mistake}.", message, mistake)


def _passes(ordinary: Callable[[], object] | None) -> bool:
    try:
        if ordinary is not None:
            ordinary()
    except (CheckFailed, StudentError):
        return False
    return True


def expect_parts(actual: Any, count: int, what: str) -> Sequence[Any]:
    """Fail unless a function returned `count` values; return these values."""
    if not isinstance(actual, (tuple, list)) or len(actual) != count:
        fail(
            Phrase(
                "You should return {what}, but you returned {found}.",
                what,
                describe(actual),
            ),
            mistake="a different number of results",
        )
    return actual


def expect_dtype(actual: Tensor, dtype: torch.dtype, what: str) -> None:
    """Fail unless a tensor has the dtype `dtype`, which is that of the inputs."""
    if actual.dtype != dtype:
        fail(
            Phrase(
                "For inputs of {dtype}, {what} should be {dtype}, but it is {found}. "
                "Some step makes a tensor of a fixed dtype.",
                dtype,
                what,
                actual.dtype,
            ),
            mistake="a fixed dtype",
        )


def expect_gradients(
    run: Any,
    function: Callable[..., Tensor],
    inputs: Sequence[Tensor],
    upstream: Tensor,
    mistakes: Sequence[Mistakes] = (),
) -> None:
    """Fail unless the gradients of the inputs equal those of a trusted function.

    Args:
        run: the result of `student.gradients` for arguments that start with `inputs`.
        function: the trusted function of the same inputs, which is called in float64.
            Its arguments should have the same names as the student's, because the
            message contains them.
        inputs: the float tensors that were passed as the first arguments.
        upstream: the upstream gradient.
        mistakes: for each input, the wrong gradients that known mistakes cause, keyed
            by name.
    """
    leaves = [x.double().requires_grad_() for x in inputs]
    weighted = (function(*leaves) * upstream.double()).sum()
    wanted = torch.autograd.grad(weighted, leaves)
    whom = _argument_names(function, len(inputs))
    for number, want in enumerate(wanted):
        got = run.inputs[number]
        if got is None:
            fail(
                Phrase(
                    "No gradient reaches {name}: .detach(), .data, .item(), "
                    "torch.no_grad() or a new tensor of its numbers cuts it off.",
                    whom[number],
                ),
                mistake="the gradient is cut off",
            )
        named = mistakes[number] if number < len(mistakes) else None
        expect_close(
            got,
            want,
            Phrase("The gradient of {name}", whom[number]),
            named,
            tolerance=1e-4,
        )


def _argument_names(function: Callable[..., Tensor], count: int) -> list[str]:
    """Return the names of the first arguments in the signature, or numbers."""
    kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    parameters = inspect.signature(function).parameters.values()
    names = [f"`{p.name}`" for p in parameters if p.kind in kinds][:count]
    unnamed = range(len(names) + 1, count + 1)
    return names + [Phrase("argument {n}", number) for number in unnamed]


def expect_own_layers(stack: Any, trusted: nn.Module, n: int, what: Phrase) -> None:
    """Fail unless a student's stack has the parameters of `n` separate layers."""
    found = stack.parameters_by_name()
    wanted = {name: tuple(p.shape) for name, p in trusted.named_parameters()}
    if not found:
        fail(
            Phrase(
                "{what} has no parameters: nn.Module does not register layers in a "
                "Python list. Use nn.ModuleList.",
                what,
            ),
            mistake="layers in a Python list, whose parameters are not registered",
        )
    if len(found) == len(wanted) // n:
        fail(
            Phrase(
                "{what} has the parameters of one layer, not of {n}: [layer] * n is "
                "the same layer n times.",
                what,
                n,
            ),
            mistake="one layer used N times, so that all N share its parameters",
        )
    if found != wanted:
        fail(
            Phrase(
                "{what} does not have exactly the parameters of its layers.",
                what,
            )
        )


def expect_unchanged(after: Sequence[Tensor], before: Sequence[Tensor]) -> None:
    """Fail if a function wrote into one of its input tensors."""
    for number, (now, then) in enumerate(zip(after, before, strict=True)):
        if not torch.equal(now, then):
            fail(
                Phrase(
                    "Your function changed its argument {number}. A method that "
                    "ends in an underscore, such as masked_fill_, writes into its "
                    "tensor.",
                    number + 1,
                ),
                mistake="an input is changed in place",
            )
