"""Read and write weights in the safetensors format, which the book's pages also read.

A file contains the length of its header in eight bytes, the header as JSON, and then
the numbers of all tensors, here in half precision. The package `safetensors` reads and
writes the same format, but students need not install it for these few lines.
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
    """Return a file's bytes, with tensors in half precision and facts about them."""
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
    text += b" " * (-len(text) % 8)  # align the numbers to a multiple of eight bytes
    return len(text).to_bytes(8, "little") + text + numbers


def unpack_weights(content: bytes) -> dict[str, Tensor]:
    """Return the tensors, in half precision, of a file that `pack_weights` has made."""
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        numbers = np.frombuffer(content[begin + start : begin + end], HALF)
        weights[name] = torch.from_numpy(numbers.reshape(entry["shape"]).copy())
    return weights
