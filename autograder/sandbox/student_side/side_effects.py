"""Detect effects of a call to the student's code that its result does not show.

Such effects are values that are kept from one call to the next, permanent changes to
settings, writes into the arguments, and errors.
"""

import functools
import hashlib
import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from .meta_device import devices_of_call, tensors_in


@functools.cache
def has_accelerator() -> bool:
    """Return whether a seed must also be set on devices other than the CPU."""
    return torch.cuda.is_available() or torch.backends.mps.is_available()


def set_seed(seed: int) -> None:
    """Set the seed like `torch.manual_seed`, but skip missing devices.

    For each missing device, PyTorch would record the delayed call with a traceback.
    This took a seventh of a check's time.
    """
    if has_accelerator():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def usual_settings() -> None:
    """Reset the settings that a student's code could have changed for later code."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.autograd.set_detect_anomaly(False)
    if torch.are_deterministic_algorithms_enabled():  # setting it imports Inductor
        torch.use_deterministic_algorithms(False)
    # cuDNN cannot compute the gradients of a recurrent layer in evaluation mode.
    torch.backends.cudnn.enabled = False


class SideEffects:
    """Answer requests about the effects of a call, as a base class of `Session`."""

    def do_calls_in_turn(self, target: Any, calls: Sequence[tuple]) -> list[tuple]:
        """Call with each of `calls`; return each result at once and at the end."""
        function, results = callable_of(target), []
        for args in calls:
            result = function(*args)
            results.append((copied(result), result))
        return results

    def do_call_again(
        self, target: Any, args: tuple, others: tuple
    ) -> tuple[Any] | None:
        """Call, overwrite the tensors in `args` with those in `others`, and call again.

        Returns:
            A tuple with only the second result, or None if there are no tensors to
            overwrite.
        """
        function = callable_of(target)
        held, other = list(tensors_in(args)), list(tensors_in(others))
        if not held or [x.shape for x in held] != [x.shape for x in other]:
            return None
        function(*args)
        with torch.no_grad():
            for mine, its in zip(held, other, strict=True):
                mine.copy_(its)
        pairs = zip(args, others, strict=True)
        return (
            function(*(a if any(True for _ in tensors_in(a)) else b for a, b in pairs)),
        )

    def do_watched_call(
        self, target: Any, args: tuple, kwargs: dict
    ) -> tuple[Any, list[str], list[int]]:
        """Call `target` and return the result, changed settings and changed arguments.

        A changed argument is given by its index among the positional arguments. It
        counts as changed if the call wrote into it, even if its values are the same as
        before.
        """
        # If an earlier call left the same seed, setting it again must count as a
        # change.
        torch.rand(())
        usual_settings()
        function = callable_of(target)
        before, then = settings(function, args), [_traces(value) for value in args]
        result = function(*args, **kwargs)
        after, now = settings(function, args), [_traces(value) for value in args]
        changed = [name for name in before if before[name] != after[name]]
        written = [n for n, (a, b) in enumerate(zip(then, now, strict=True)) if a != b]
        return result, changed, written

    def do_calls_by_seed(
        self, target: Any, args: tuple, kwargs: dict, seeds: Sequence[int]
    ) -> list[tuple[Any, str]]:
        """Call once under each seed, and return the results and final random states."""
        function, results = callable_of(target), []
        for seed in seeds:
            set_seed(seed)
            result = copied(function(*args, **kwargs))
            results.append((result, _digest(torch.get_rng_state())))
        return results

    def do_devices(self, target: Any, args: tuple, kwargs: dict) -> list[str]:
        """Call `target` with inputs off the CPU; return the devices of its results."""
        return devices_of_call(callable_of(target), args, kwargs)

    def do_raised_by(self, target: Any, args: tuple, kwargs: dict) -> list[str]:
        """Call `target` and return the class names of its error, or an empty list."""
        function = callable_of(target)
        try:
            function(*args, **kwargs)
        except NotImplementedError:
            raise  # the exercise has no answer yet
        except Exception as error:
            return [kind.__name__ for kind in type(error).__mro__]
        return []


def callable_of(target: Any) -> Callable[..., Any]:
    """Return `target`; if it is not callable, raise a `TypeError` with its type."""
    if not callable(target):
        raise TypeError(f"it is a {type(target).__name__} and cannot be called")
    return target


def copied(value: Any) -> Any:
    """Copy nested containers and their tensors, and keep other objects as they are."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [copied(item) for item in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def settings(function: Callable[..., Any], args: Sequence[Any]) -> dict[str, Any]:
    """Return the settings that a call could change for all code that runs later."""
    owner = getattr(function, "__self__", function)
    modules = [x for x in (owner, *args) if isinstance(x, nn.Module)]
    own = owner.state_dict() if isinstance(owner, nn.Module) else {}
    parts = owner.modules() if isinstance(owner, nn.Module) else ()
    return {
        "the module's mode": [part.training for part in parts],
        "the mode of a module that it is given": [
            part.training
            for x in args
            if isinstance(x, nn.Module)
            for part in x.modules()
        ],
        "the module's trained parameters": [
            p.requires_grad for x in modules for p in x.parameters()
        ],
        "the module's state": {name: _traces(x) for name, x in own.items()},
        "the random state of torch": _digest(torch.get_rng_state()),
        "the random state of Python": hash(random.getstate()),
        "the random state of numpy": hash(pickle.dumps(numpy.random.get_state())),
        "whether PyTorch records gradients": torch.is_grad_enabled(),
        "the default dtype": str(torch.get_default_dtype()),
        "the default device": str(torch.get_default_device()),
        "whether PyTorch looks for anomalies": torch.is_anomaly_enabled(),
        "whether PyTorch is deterministic": (
            torch.are_deterministic_algorithms_enabled()
        ),
        "the number of threads": torch.get_num_threads(),
    }


def _traces(value: Any) -> list[tuple]:
    """Return a record of the tensors in `value`; any write into them changes it."""
    return [
        (x._version, tuple(x.shape), x.requires_grad, _digest(x))
        for x in tensors_in(value)
    ]


def _digest(tensor: Tensor) -> str:
    plain = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return hashlib.sha256(plain.numpy().tobytes()).hexdigest()
