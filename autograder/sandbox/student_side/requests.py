"""Carry out a check's requests to the student's code, such as calls and gradients.

This module answers the grader's messages in the child process or, for trusted variants,
in the grader's own process. The answers are the same.
"""

import importlib
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from .errors import MissingName, error_report
from .messages import Message
from .side_effects import SideEffects, callable_of, set_seed, usual_settings
from .values import Decoder, Encoder, Reference

Ask = Callable[[Message], Message]
AskBack = Callable[[int, str, tuple, dict], Any]


class Session(SideEffects):
    """Hold the notebook's names and the objects that checks made from them."""

    def __init__(self, namespace: dict[str, Any], ask: Ask, device: str = "cpu"):
        """Use the names in `namespace`; `ask` sends a call back to the grader.

        The grader's values and the modules made with them are moved to `device`. The
        answers are the same on every device.
        """
        self.namespace = namespace
        self.ask = ask
        self.device = device
        self.threads = torch.get_num_threads()
        self.handles: dict[int, Any] = {}
        self.stand_ins: dict[int, Any] = {}

    def answer(self, request: Message) -> Message:
        """Carry out one request; the answer also reports the student code's errors."""
        decoder = Decoder(request, self._resolve, device=self.device)
        try:
            operation = getattr(self, f"do_{decoder.part('do')}")
            result = operation(**decoder.part("with", {}))
            return Encoder(self._refer).message(ok=result)
        except BaseException as error:
            return Encoder(self._refer).message(error=error_report(error))

    def do_begin(self, seed: int) -> None:
        """Begin a check: reset the last check's objects and settings; set the seed."""
        self.handles.clear()
        self.stand_ins.clear()
        usual_settings()
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        set_seed(seed)

    def do_call(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """Call `target`, and if it returns a module, move the module to the device."""
        result = callable_of(target)(*args, **kwargs)
        return result.to(self.device) if isinstance(result, nn.Module) else result

    def do_stack_of_parts(
        self, config: Any, parts: dict[str, str], forward: str, count: int
    ) -> nn.ModuleList:
        """Make layers from the kit's parts; see `SubmissionProxy` for the arguments."""
        makers = importlib.import_module("transformer.parts")
        stack = nn.ModuleList(nn.Module() for _ in range(count))
        for layer in stack:
            for name, maker in parts.items():
                layer.add_module(name, getattr(makers, maker)(config))
            layer.forward = eval(forward)(layer)
        return stack.to(self.device)

    def do_value(self, target: Any) -> Any:
        """Return `target` itself."""
        return target

    def do_method(self, target: Any, name: str, args: tuple, kwargs: dict) -> Any:
        """Call a method of `target`."""
        return getattr(target, name)(*args, **kwargs)

    def do_attribute(self, target: Any, name: str) -> Any:
        """Return an attribute of `target`."""
        return getattr(target, name)

    def do_call_and_return_inputs(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """Call `target` and return the result and the arguments after the call."""
        result = callable_of(target)(*args, **kwargs)
        return result, args

    def do_parameters_by_name(self, target: nn.Module) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter of a module."""
        return {name: tuple(p.shape) for name, p in target.named_parameters()}

    def do_gradients(
        self,
        target: Any,
        args: tuple,
        kwargs: dict,
        upstream: Tensor | None,
        output: int | None,
        checkpointed: bool = False,
    ) -> tuple[Any, list[Tensor | None], dict[str, Tensor | None]]:
        """Run forward and backward, and return output, input and parameter gradients.

        If `checkpointed`, the forward pass runs again during the backward pass.
        """
        if isinstance(target, nn.Module):
            target.zero_grad(set_to_none=True)
        args = tuple(_wants_gradient(value) for value in args)
        run = callable_of(target)
        if checkpointed:
            run = partial(checkpoint, run, use_reentrant=False)
        result = run(*args, **kwargs)
        chosen = _chosen_output(result, output)
        total = chosen.sum() if upstream is None else (chosen * upstream).sum()
        if total.requires_grad:
            total.backward()
        inputs = [value.grad if isinstance(value, Tensor) else None for value in args]
        named = target.named_parameters() if isinstance(target, nn.Module) else ()
        return chosen, inputs, {name: value.grad for name, value in named}

    def _resolve(self, reference: Reference) -> Any:
        if reference.kind == "name":
            if reference.key not in self.namespace:
                raise MissingName(str(reference.key))
            return self.namespace[reference.key]
        if reference.kind == "load":
            module, _, name = str(reference.key).rpartition(".")
            return getattr(importlib.import_module(module), name)
        if reference.kind == "handle":
            return self.handles[int(reference.key)]
        return self._stand_in(reference)

    def _stand_in(self, reference: Reference) -> Any:
        key = int(reference.key)
        if key not in self.stand_ins:
            self.stand_ins[key] = _make_stand_in(key, reference.details, self._ask_back)
        return self.stand_ins[key]

    def _ask_back(self, key: int, method: str, args: tuple, kwargs: dict) -> Any:
        question = {"key": key, "method": method, "args": args, "kwargs": kwargs}
        reply = self.ask(Encoder(self._refer).message(callback=question))
        decoder = Decoder(reply, self._resolve, device=self.device)
        problem = decoder.part("error")
        if problem is not None:
            raise RuntimeError(problem)
        return decoder.part("ok")

    def _refer(self, value: Any) -> Reference:
        for key, stand_in in self.stand_ins.items():
            if stand_in is value:
                return Reference("callback", key)
        for key, known in self.handles.items():
            if known is value:
                return Reference("handle", key, type(value).__name__)
        key = len(self.handles)
        self.handles[key] = value
        return Reference("handle", key, type(value).__name__)


def _wants_gradient(value: Any) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.detach().requires_grad_()
    return value


def _chosen_output(result: Any, output: int | None) -> Tensor:
    if output is not None:
        return result[output]
    for part in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(part, Tensor) and part.is_floating_point():
            return part
    raise TypeError("it returned no tensor of floating-point numbers")


def _make_stand_in(key: int, details: dict[str, Any], ask: AskBack) -> Any:
    """Return an object that stands in for one of the grader's objects.

    Args:
        key: the object's number on the grader's side.
        details: its `methods`, a list of names, and its `attributes`, plain values.
        ask: sends one call to the grader and returns its result.
    """
    names = details["methods"]
    methods = {name: _method(key, name, ask) for name in names}
    for harmless in ("eval", "train", "to"):
        methods.setdefault(harmless, _return_itself)
    kind = type("GradersObject", (), {**methods, **details["attributes"]})
    return kind()


def _method(key: int, name: str, ask: AskBack) -> Callable[..., Any]:
    def method(_self: Any, *args: Any, **kwargs: Any) -> Any:
        return ask(key, name, args, kwargs)

    return method


def _return_itself(self: Any, *_args: Any, **_kwargs: Any) -> Any:
    return self
