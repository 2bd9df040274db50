"""Convert values to JSON and bytes and back, and check all received data.

Plain values are sent as they are, tensors as bytes, and all other objects as handles.
Both sides use the same code, and the trusted side checks everything that it receives.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor

from .messages import Message, ProtocolError

MAX_DEPTH = 24
MAX_ITEMS = 200_000
MAX_BYTES = 1 << 30
# An attacker can choose numbers and tuples with equal hashes, and building a set of n
# of them takes n² steps. Strings, and integers smaller than hashes, do not have this
# problem.
MAX_HASHED = 10_000  # in one set or dict
MAX_LARGE = 1_000  # in one message
LARGE = 1 << 60

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
        *(torch.complex64, torch.complex128),
    )
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Reference:
    """A reference to an object that stays on one side.

    `kind` is "handle" (an object on the student's side), "callback" (an object on the
    grader's side), "name" (a name in the notebook) or "load" (an object to import).
    `details` is plain JSON.
    """

    kind: str
    key: int | str
    details: Any = None


class Encoder:
    """Encode values into one message, and replace all other objects with references."""

    def __init__(self, refer: Callable[[Any], Reference]):
        """Call `refer` for every object that cannot be sent as a value."""
        self.refer = refer
        self.blob = bytearray()

    def message(self, **parts: Any) -> Message:
        """Return a message whose parts are the encoded values."""
        return Message(
            {key: self.encode(part) for key, part in parts.items()}, self.blob
        )

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return `value` as JSON and append the bytes of tensors to the blob."""
        if depth > MAX_DEPTH:
            raise ValueError("the value is nested too deeply to be handed over")
        if isinstance(value, numpy.generic):
            value = numpy.generic.item(value)  # a plain number, if possible
        if value is None or isinstance(value, (bool, int, float, str)):
            return _plain(value)
        if isinstance(value, Tensor) and self._can_cross(value):
            return {"tensor": self._tensor(value)}
        if isinstance(value, (torch.dtype, torch.device)):
            kind = "dtype" if isinstance(value, torch.dtype) else "device"
            return {kind: str(value).removeprefix("torch.")}
        if isinstance(value, dict):
            pairs = list(value.items())
            return {"dict": [self._items(pair, depth) for pair in pairs]}
        for type_ in (list, tuple, set, frozenset, slice, complex):
            if isinstance(value, type_):
                return {type_.__name__: self._items(_parts(value), depth)}
        reference = value if isinstance(value, Reference) else self.refer(value)
        return {reference.kind: [reference.key, reference.details]}

    def _items(self, values: Any, depth: int) -> list[Any]:
        return [self.encode(value, depth + 1) for value in values]

    @staticmethod
    def _can_cross(tensor: Tensor) -> bool:
        has_data = tensor.layout == torch.strided and not tensor.is_meta
        return has_data and tensor.dtype in NAMES

    def _tensor(self, tensor: Tensor) -> list[Any]:
        """Append a tensor's bytes; keep its strides, so that views stay views."""
        with torch._C.DisableTorchFunctionSubclass():
            plain = tensor.detach().cpu().resolve_conj().resolve_neg()
            data = plain.contiguous().reshape(-1)
            bits = data.view(torch.uint8).numpy().data if data.numel() else b""
        strides = None if plain.is_contiguous() else list(plain.stride())
        start = len(self.blob)
        self.blob += bits
        return [NAMES[plain.dtype], list(plain.shape), strides, start]


def _plain(value: Any) -> Any:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value) if kind is not str else str.__str__(value)
    return None


def _parts(value: Any) -> list[Any]:
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return list(value)


class Decoder:
    """Decode the values of one message, and look up the objects of references."""

    def __init__(
        self,
        message: Message,
        resolve: Callable[[Reference], Any],
        keep_strides: bool = True,
        device: str = "cpu",
    ):
        """Read tensors from the message's blob, and look up references with `resolve`.

        The tensors are moved to `device`.
        """
        self.message = message
        self.resolve = resolve
        self.keep_strides = keep_strides
        self.device = device
        self.items = self.large = 0
        self.bytes_left = len(message.blob)
        self.numbers: list[int] = []  # elements per tensor, at least 1 per dimension

    def part(self, key: str, default: Any = None) -> Any:
        """Return one decoded part of the message.

        Raises:
            ProtocolError: if the protocol does not allow the part.
        """
        body = self.message.body
        return self.decode(body[key]) if key in body else default

    def decode(self, coded: Any, depth: int = 0) -> Any:
        """Return the value encoded in `coded`."""
        self.items += 1
        if depth > MAX_DEPTH + 1 or self.items > MAX_ITEMS:
            raise ProtocolError("a value is nested too deeply or has too many parts")
        if type(coded) is int and abs(coded) >= LARGE:
            self.large += 1
            if self.large > MAX_LARGE:
                raise ProtocolError("too many large numbers")
        if coded is None or isinstance(coded, (bool, int, float, str)):
            return coded
        if not isinstance(coded, dict) or len(coded) != 1:
            raise ProtocolError("a value of no known kind")
        kind, content = next(iter(coded.items()))
        try:
            return self._decode_kind(kind, content, depth)
        except (
            *(TypeError, ValueError, RuntimeError, AttributeError),
            *(ArithmeticError, LookupError),
        ) as error:
            raise ProtocolError(f"a {kind[:40]} that is none") from error

    def _decode_kind(self, kind: str, content: Any, depth: int) -> Any:
        if kind == "tensor":
            return self._tensor(*content).to(self.device)
        if kind == "dtype":
            return DTYPES.get(content) or getattr(torch, _known_dtype(content))
        if kind == "device":
            return torch.device(content)
        if kind in ("handle", "callback", "name", "load"):
            key, details = content
            if not isinstance(key, (int, str)):
                raise ProtocolError("a reference without a key")
            return self.resolve(Reference(kind, key, details))
        if kind == "dict":
            pairs = [
                [self.decode(part, depth + 1) for part in pair] for pair in content
            ]
            _refuse_many([key for key, _ in pairs])
            return {key: value for key, value in pairs}
        makers = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
        parts = [self.decode(part, depth + 1) for part in content]
        if kind in ("set", "frozenset"):
            _refuse_many(parts)
        if kind in makers:
            return makers[kind](parts)
        if kind in ("slice", "complex"):
            return slice(*parts) if kind == "slice" else complex(*parts)
        raise ProtocolError(f"a value of the unknown kind {kind[:40]!r}")

    def _tensor(
        self, name: str, shape: list, strides: list | None, start: int
    ) -> Tensor:
        dtype = DTYPES.get(name)
        whole = [*shape, *(strides or []), start]
        if dtype is None or not all(type(n) is int and n >= 0 for n in whole):
            raise ProtocolError("a tensor without a dtype or shape")
        if len(shape) > 32 or (strides is not None and len(strides) != len(shape)):
            raise ProtocolError("a tensor of too many dimensions")
        self.numbers.append(math.prod(max(n, 1) for n in shape))
        if self.numbers[-1] > MAX_BYTES:
            raise ProtocolError("a tensor of too large a shape")
        size = math.prod(shape) * dtype.itemsize
        self.bytes_left -= size
        if start + size > len(self.message.blob) or self.bytes_left < 0:
            raise ProtocolError("tensors larger than their message")
        flat = _from_bytes(self.message.blob, start, size, dtype)
        tensor = flat.reshape(shape)
        if strides is None or not self.keep_strides:
            return tensor
        return _with_strides(tensor, strides)


def _refuse_many(keys: list[Any]) -> None:
    if sum(type(key) is not str for key in keys) > MAX_HASHED:
        raise ProtocolError("a set or dict of too many numbers")


def _known_dtype(name: Any) -> str:
    if isinstance(name, str) and isinstance(getattr(torch, name, None), torch.dtype):
        return name
    raise ProtocolError("an unknown dtype")


def _from_bytes(blob: bytearray, start: int, size: int, dtype: torch.dtype) -> Tensor:
    if size == 0:
        return torch.empty(0, dtype=dtype)
    bits = numpy.frombuffer(blob, dtype=numpy.uint8, count=size, offset=start).copy()
    if dtype == torch.bool:
        return torch.from_numpy(bits) != 0
    return torch.from_numpy(bits).view(dtype)


def _with_strides(tensor: Tensor, strides: list[int]) -> Tensor:
    """Return `tensor` with the given `strides`; a stride of 0 stays an expansion."""
    reach = sum((n - 1) * s for n, s in zip(tensor.shape, strides, strict=True) if n)
    if reach * tensor.element_size() > MAX_BYTES:
        raise ProtocolError("a tensor with too wide strides")
    index = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in strides)
    compact = tensor[index]
    laid_out = torch.empty_strided(compact.shape, strides, dtype=tensor.dtype)
    laid_out.copy_(compact)
    return laid_out.expand(tensor.shape)
