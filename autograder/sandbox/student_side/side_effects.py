"""Watch a call of the student's code for what its result does not show.

What it keeps from one call to the next, what it changes for good, what it writes into
its arguments, and what it raises.
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
    """Say whether a seed must reach more than the CPU's generator."""
    return torch.cuda.is_available() or torch.backends.mps.is_available()


def set_seed(seed: int) -> None:
    """Do what `torch.manual_seed` does, and leave out the devices that are not there.

    For each of those it notes down, with a traceback, what would have to be done: that
    took a seventh of a check's time.
    """
    if has_accelerator():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def usual_settings() -> None:
    """Set what a student's code could have changed for all code after it."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.autograd.set_detect_anomaly(False)
    if torch.are_deterministic_algorithms_enabled():  # setting it imports Inductor
        torch.use_deterministic_algorithms(False)
    # cuDNN refuses the gradients of a recurrent layer in evaluation mode.
    torch.backends.cudnn.enabled = False


class SideEffects:
    """Requests about a call; a part of the session."""

    def do_calls_in_turn(self, target: Any, calls: Sequence[tuple]) -> list[tuple]:
        """Call once with each of `calls`; return each result then, and at the end."""
        function, results = callable_of(target), []
        for args in calls:
            result = function(*args)
            results.append((copied(result), result))
        return results

    def do_call_again(
        self, target: Any, args: tuple, others: tuple
    ) -> tuple[Any] | None:
        """Call, write those of `others` into the same tensors, and call again.

        Returns:
            The second result, alone in a tuple; None if there is nothing to write.
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
        """Call `target`; return the result, what changed for good, and what is written.

        The last are the numbers of the positional arguments that were written into,
        even if they hold again what they held before.
        """
        # A seed or setting that an earlier call has left is seen when set again.
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
        """Seed and call, for each seed; return results, and what the state is then."""
        function, results = callable_of(target), []
        for seed in seeds:
            set_seed(seed)
            result = copied(function(*args, **kwargs))
            results.append((result, _digest(torch.get_rng_state())))
        return results

    def do_devices(self, target: Any, args: tuple, kwargs: dict) -> list[str]:
        """Call `target` with inputs elsewhere than on the CPU; say where it ends."""
        return devices_of_call(callable_of(target), args, kwargs)

    def do_raised_by(self, target: Any, args: tuple, kwargs: dict) -> list[str]:
        """Call `target`; return the names of the raised error's classes, or none."""
        function = callable_of(target)
        try:
            function(*args, **kwargs)
        except NotImplementedError:
            raise  # the answer is not written
        except Exception as error:
            return [kind.__name__ for kind in type(error).__mro__]
        return []


def callable_of(target: Any) -> Callable[..., Any]:
    """Return what is to be called, or say what it is instead."""
    if not callable(target):
        raise TypeError(f"it is a {type(target).__name__} and cannot be called")
    return target


def copied(value: Any) -> Any:
    """Return a copy of nested containers and their tensors; other objects stay."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [copied(item) for item in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def settings(function: Callable[..., Any], args: Sequence[Any]) -> dict[str, Any]:
    """Return what a call could change for all code after it."""
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
        "whether gradients are kept": torch.is_grad_enabled(),
        "the default dtype": str(torch.get_default_dtype()),
        "the default device": str(torch.get_default_device()),
        "whether PyTorch looks for anomalies": torch.is_anomaly_enabled(),
        "whether PyTorch is deterministic": (
            torch.are_deterministic_algorithms_enabled()
        ),
        "the number of threads": torch.get_num_threads(),
    }


def _traces(value: Any) -> list[tuple]:
    """Return what writing into the tensors of `value` leaves behind."""
    return [
        (x._version, tuple(x.shape), x.requires_grad, _digest(x))
        for x in tensors_in(value)
    ]


def _digest(tensor: Tensor) -> str:
    plain = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return hashlib.sha256(plain.numpy().tobytes()).hexdigest()
