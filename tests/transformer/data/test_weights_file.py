"""Weights as a file: the package `safetensors` writes and reads the same bytes."""

import torch
from safetensors.torch import load, save

from transformer.data.weights_file import pack_weights, unpack_weights

WEIGHTS = {
    "b.weight": torch.arange(6.0).view(2, 3).half(),
    "a.ü": torch.tensor(-1.5).half(),
    "c": torch.zeros(0, 4).half(),
}


def test_safetensors_writes_the_same_bytes() -> None:
    assert pack_weights(WEIGHTS) == save(WEIGHTS)
    assert pack_weights(WEIGHTS, {"a": "ä"}) == save(WEIGHTS, {"a": "ä"})


def test_both_read_the_same() -> None:
    content = pack_weights(WEIGHTS, {"a": "b", "c": "d"})
    for found in (load(content), unpack_weights(content)):
        assert found.keys() == WEIGHTS.keys()
        for name, weight in WEIGHTS.items():
            assert torch.equal(found[name], weight)
            assert found[name].dtype == torch.half


def test_a_transposed_weight_is_written_as_it_looks() -> None:
    weight = torch.arange(6.0).view(2, 3).T
    assert torch.equal(unpack_weights(pack_weights({"w": weight}))["w"], weight.half())
