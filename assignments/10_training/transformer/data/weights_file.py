"""Weights in the safetensors format, which the book's pages read too.

A file contains the length of its header in eight bytes, the header as JSON, and then
the numbers of all tensors, which are in half precision here. The package `safetensors`
reads and writes the same format, but students need not install it for these few lines.
"""

import json
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

HALF = np.dtype("<f2")


def pack_weights(
    weights: Mapping[str, Tensor], facts: Mapping[str, str] | None = None
) -> bytes:
    """Pack tensors in half precision, and facts about them, into one file."""
    header: dict[str, object] = {"__metadata__": dict(facts)} if facts else {}
    numbers = b""
    for name, weight in sorted(weights.items()):
        start = len(numbers)
        numbers += weight.detach().cpu().numpy().astype(HALF).tobytes()
        header[name] = {
            "dtype": "F16",
            "shape": list(weight.shape),
            "data_offsets": [start, len(numbers)],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of eight
    return len(text).to_bytes(8, "little") + text + numbers


def unpack_weights(content: bytes) -> dict[str, Tensor]:
    """Read the tensors of a file that `pack_weights` wrote, in half precision."""
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        numbers = np.frombuffer(content[begin + start : begin + end], HALF)
        weights[name] = torch.from_numpy(numbers.reshape(entry["shape"]).copy())
    return weights
