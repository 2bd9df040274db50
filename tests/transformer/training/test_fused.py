"""Check that the fused attention computes the attention of the chapters."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.masks import causal_mask
from transformer.model import Transformer
from transformer.multi_head import MultiHeadAttention
from transformer.training.fused_attention import (
    FusedMultiHeadAttention,
    use_fused_attention,
)

B, T, S, D_MODEL = 3, 5, 7, 16


def inputs(same: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x, y, z = (torch.randn(B, n, D_MODEL, generator=generator) for n in (T, S, S))
    return {"all": [x, x, x], "memory": [x, y, y], "none": [x, y, z]}[same]


def masks(same: str) -> list[torch.Tensor | None]:
    keys = T if same == "all" else S
    padding = torch.ones(B, 1, 1, keys, dtype=torch.bool)
    padding[0, ..., 3:] = False
    nothing = padding.clone()
    nothing[1] = False  # a query that may attend to nothing
    return [None, padding, nothing] + ([causal_mask(T)] if same == "all" else [])


def pair(dropout: float = 0.0) -> tuple[MultiHeadAttention, MultiHeadAttention]:
    torch.manual_seed(0)
    plain, fused = (MultiHeadAttention(D_MODEL, 4, dropout) for _ in range(2))
    fused.load_state_dict(plain.state_dict())
    use_fused_attention(fused)
    assert type(fused) is FusedMultiHeadAttention
    return plain, fused


@pytest.mark.parametrize("same", ["all", "memory", "none"])
def test_output_and_gradients_are_equal(same):
    for mask in masks(same):
        plain, fused = pair()
        results = []
        for module in (plain, fused):
            given = [x.clone().requires_grad_() for x in inputs(same)]
            query, key, value = (
                given if same == "none" else [given[0], given[1], given[1]]
            )
            if same == "all":
                key = value = query
            output, _ = module(query, key, value, mask)
            output.square().sum().backward()
            results.append(
                [output, given[0].grad, *(p.grad for p in module.parameters())]
            )
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_dropout_is_of_the_weights_and_in_training_alone():
    _, fused = pair(dropout=0.5)
    query, key, value = inputs("all")
    torch.manual_seed(1)
    first, second = (fused(query, key, value)[0] for _ in range(2))
    assert not torch.equal(first, second)
    fused.eval()
    first, second = (fused(query, key, value)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_a_model_is_switched_on_and_off():
    torch.manual_seed(0)
    config = TransformerConfig(30, 30, d_model=16, n_heads=2, n_layers=2, d_ff=24)
    model = Transformer(config).eval()
    src = torch.randint(4, 30, (3, 6))
    src[0, 4:] = 1
    expected = model(src, src)
    names = list(model.state_dict())
    use_fused_attention(model)
    kinds = [type(m) for m in model.modules() if isinstance(m, MultiHeadAttention)]
    assert kinds == [FusedMultiHeadAttention] * 6
    torch.testing.assert_close(model(src, src), expected, atol=1e-5, rtol=1e-4)
    assert list(model.state_dict()) == names
    use_fused_attention(model, on=False)
    assert torch.equal(model(src, src), expected)
    _, weights = model.decode(src, model.encode(src), src)
    assert weights[0].shape == (3, 2, 6, 6)
