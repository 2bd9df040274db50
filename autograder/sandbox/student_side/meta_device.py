"""Call code with inputs on a device other than the CPU, even without a GPU.

PyTorch's device "meta" replaces the GPU. Its tensors have a shape and a device, but no
values. Two errors that occur on a GPU also occur here: an operation on tensors of two
devices, and numpy reading a tensor that is not on the CPU. Code that calls a function
such as `.item()`, which works on a GPU but not here, gives the check no result.
"""

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

ELSEWHERE = "meta"
TAKES_TWO_DEVICES = {  # by name: on a GPU too, some of their tensors may be on the CPU
    *("aten::copy_", "aten::index", "aten::index_put", "aten::index_put_"),
    *("aten::_index_put_impl_", "aten::_pack_padded_sequence"),
    *("aten::_pad_packed_sequence", "aten::tensor_split", "aten::set_"),
}
NO_VALUES_FOR_NUMPY = "can't convert meta device type tensor to numpy"


class MixedDevices(RuntimeError):
    """Report an operation on tensors on two devices, as a GPU would."""


class OneDevice(TorchDispatchMode):
    """Forbid operations on tensors on two devices; copies from "meta" contain zeros."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Skip the compiler, because importing it takes seconds."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Carry out one operation of PyTorch."""
        kwargs = kwargs or {}
        name = func._schema.name
        if name == "aten::_to_copy" and args[0].is_meta:
            kind = kwargs.get("dtype") or args[0].dtype
            place = kwargs.get("device") or args[0].device
            return torch.zeros_like(args[0], dtype=kind, device=place)
        if name == "aten::copy_" and args[1].is_meta:
            return args[0]
        tensors = list(tensors_in((args, kwargs)))
        away = any(x.is_meta for x in tensors)
        here = any(x.device.type == "cpu" and x.dim() > 0 for x in tensors)
        if away and here and name not in TAKES_TWO_DEVICES:
            raise MixedDevices(
                "Expected all tensors to be on the same device, but found two devices"
            )
        return func(*args, **kwargs)


def devices_of_call(function: Callable[..., Any], args: Any, kwargs: Any) -> list[str]:
    """Return the devices of a call's output tensors: "elsewhere" or "cpu".

    The list is empty if the call needs values and therefore cannot run here.

    Raises:
        MixedDevices: if an operation's tensors are on two devices.
        TypeError: if numpy has to read a tensor that is not on the CPU.
    """
    try:
        memo: dict[int, Any] = {}
        moved = moved_target(function, memo), *moved_away((args, kwargs), memo)
        with OneDevice():
            result = moved[0](*moved[1], **moved[2])
    except MixedDevices:
        raise
    except TypeError as error:
        if NO_VALUES_FOR_NUMPY in str(error):
            raise
        return []
    except Exception:  # the call needs values
        return []
    return ["elsewhere" if x.is_meta else "cpu" for x in tensors_in(result)]


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of nested tuples, lists and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def moved_target(function: Callable[..., Any], memo: dict[int, Any]) -> Any:
    """Return a function or module with its own tensors on the device "meta"."""
    if inspect.ismethod(function) and isinstance(function.__self__, nn.Module):
        return getattr(moved_away(function.__self__, memo), function.__name__)
    return moved_away(function, memo)


def moved_away(value: Any, memo: dict[int, Any]) -> Any:
    """Copy `value` with its tensors on "meta"; `memo` keeps shared tensors shared."""
    if isinstance(value, Tensor):
        if id(value) not in memo:
            memo[id(value)] = _without_values(value)
        return memo[id(value)]
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).to(ELSEWHERE)
    if isinstance(value, dict):
        return {key: moved_away(item, memo) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved_away(item, memo) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(moved_away(item, memo) for item in value)
    if hasattr(value, "__dict__") and not callable(value):
        return _with_attributes_away(value, memo)
    return value


def _without_values(tensor: Tensor) -> Tensor:
    """Return a leaf of the same shape, strides and dtype on the device "meta"."""
    return torch.empty_strided(
        tensor.shape,
        tensor.stride(),
        dtype=tensor.dtype,
        device=ELSEWHERE,
        requires_grad=tensor.requires_grad,
    )


def _with_attributes_away(value: Any, memo: dict[int, Any]) -> Any:
    twin = copy.copy(value)
    for name, item in vars(value).items():
        object.__setattr__(twin, name, moved_away(item, memo))
    return twin
