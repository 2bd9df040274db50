"""Define faults that any answer can have, as decorators.

`answer(…).with_faults("kept detached")` in a unit's file collects one wrong variant for
each fault. The source of the decorator is inserted before the answer.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import torch
from torch import Tensor

IMPORTS = "import torch\nfrom functools import wraps\nfrom torch import Tensor\n"


@dataclass(frozen=True)
class Fault:
    """Hold a fault that any answer can have.

    Attributes:
        description: a description of the fault, in the same form as for a variant.
        names: a part of the phrase with which a check names the fault.
        decorator: the decorator that adds the fault to an answer.
    """

    description: str
    names: str
    decorator: Callable[..., Any]

    @property
    def source(self) -> str:
        """Return the source of the decorator and everything that it needs."""
        own: list[Any] = [on_tensors, sizes, self.decorator]
        return IMPORTS + "\n".join(inspect.getsource(function) for function in own)


def on_tensors(change, value):
    """Apply a change to the tensors of nested tuples, lists and dicts."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(on_tensors(change, one) for one in value)
    if isinstance(value, dict):
        return {key: on_tensors(change, one) for key, one in value.items()}
    return value


def sizes(value):
    """Return a key for arguments that ignores the values in their tensors."""
    return repr(on_tensors(lambda x: (tuple(x.shape), x.dtype, x.device), value))


def keeps_results(function, kept={}):  # noqa: B006
    """For arguments of the same sizes, return the first call's result again."""

    @wraps(function)
    def call(*args, **kwargs):
        key = sizes((args, kwargs))
        if key not in kept:
            kept[key] = function(*args, **kwargs)
        return kept[key]

    return call


def fills_one_buffer(function, buffers={}):  # noqa: B006
    """Write the results of the same size into one tensor."""

    def into_buffer(result):
        if result.requires_grad:
            return result
        key = (result.shape, result.dtype, result.device)
        return buffers.setdefault(key, result).copy_(result)

    @wraps(function)
    def call(*args, **kwargs):
        return on_tensors(into_buffer, function(*args, **kwargs))

    return call


def sets_a_seed(function):
    """Seed PyTorch's random numbers at each call."""

    @wraps(function)
    def call(*args, **kwargs):
        torch.manual_seed(4)
        return function(*args, **kwargs)

    return call


def sets_the_default_dtype(function):
    """Change PyTorch's default dtype permanently."""

    @wraps(function)
    def call(*args, **kwargs):
        torch.set_default_dtype(torch.float64)
        return function(*args, **kwargs)

    return call


def detaches(function):
    """Cut off the gradient of the result."""

    @wraps(function)
    def call(*args, **kwargs):
        return on_tensors(Tensor.detach, function(*args, **kwargs))

    return call


def returns_float32(function):
    """Return float32 for inputs of any dtype."""

    @wraps(function)
    def call(*args, **kwargs):
        return on_tensors(Tensor.float, function(*args, **kwargs))

    return call


def rounds(function):
    """Round the result to float32 and convert it back."""

    @wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        return on_tensors(lambda x: x.float().to(x.dtype), result)

    return call


def writes_into_inputs(function):
    """Write into the input tensors, and restore their values."""

    @wraps(function)
    def call(*args, **kwargs):
        with torch.no_grad():
            on_tensors(lambda x: x.copy_(x.clone()), (args, kwargs))
        return function(*args, **kwargs)

    return call


def adds_zeros_of_the_cpu(function):
    """Add a tensor on the CPU, even if the inputs are on another device."""

    @wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        return on_tensors(lambda x: x + torch.zeros(x.shape, dtype=x.dtype), result)

    return call


FAULTS = {
    "kept": Fault(
        "results kept by the inputs' sizes", "from an earlier call", keeps_results
    ),
    "buffer": Fault(
        "one buffer for all results", "one tensor for the results", fills_one_buffer
    ),
    "seed": Fault(
        "a random seed set on the way", "a seed that the code sets", sets_a_seed
    ),
    "state": Fault("a random seed set on the way", "random state", sets_a_seed),
    "default": Fault(
        "the default dtype changed for good", "default dtype", sets_the_default_dtype
    ),
    "detached": Fault("the result detached", "the gradient is cut off", detaches),
    "float32": Fault("float32, whatever comes in", "a fixed dtype", returns_float32),
    "rounded": Fault(
        "float32 on the way, and back", "rounded to a different dtype", rounds
    ),
    "written": Fault(
        "inputs written into, and put back", "in place", writes_into_inputs
    ),
    "cpu": Fault("zeros of the CPU added", "made on the CPU", adds_zeros_of_the_cpu),
}
