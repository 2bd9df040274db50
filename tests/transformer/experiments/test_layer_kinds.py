"""The layers of Table 1: their shapes, their reach, and restricted attention."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from transformer.experiments.complexity import LAYER_KINDS, restricted_mask
from transformer.experiments.layer_kinds import make_layer, restricted_attention

TWO_SIDED = {"self_attention", "restricted_attention"}


@given(st.integers(1, 12), st.integers(0, 14))
def test_restricted_mask_is_a_band(length, side):
    mask = restricted_mask(length, 2 * side + 1)
    assert mask.shape == (1, 1, length, length) and mask.dtype == torch.bool
    band = np.tri(length, k=side) - np.tri(length, k=-side - 1)
    assert (mask[0, 0].numpy() == band.astype(bool)).all()
    assert mask.all().item() == (side >= length - 1)


@pytest.mark.parametrize(("length", "r"), [(5, 4), (5, 0), (5, -3), (0, 3)])
def test_restricted_mask_names_what_is_wrong(length, r):
    with pytest.raises(ValueError, match=r"expected .* found"):
        restricted_mask(length, r)


@pytest.mark.parametrize("length", [1, 5, 16, 17, 50])
@pytest.mark.parametrize("r", [1, 3, 9, 33, 41])
def test_restricted_attention_equals_full_attention_with_the_mask(length, r):
    torch.manual_seed(0)
    sizes = [(2, 3, length, 4), (2, 3, length, 4), (2, 3, length, 5)]
    query, key, value = (torch.randn(s).double().requires_grad_() for s in sizes)
    found = restricted_attention(query, key, value, r)
    mask = restricted_mask(length, r)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert torch.allclose(found, expected, atol=1e-12)
    upstream = torch.randn_like(expected)
    for mine, theirs in zip(
        torch.autograd.grad(found, (query, key, value), upstream),
        torch.autograd.grad(expected, (query, key, value), upstream),
        strict=True,
    ):
        assert torch.allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("r", [19, 21, 101])
def test_restricted_to_everything_is_full_attention(r):
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 3, 10, 4) for _ in range(3))
    expected = F.scaled_dot_product_attention(query, key, value)
    found = restricted_attention(query, key, value, r)
    assert torch.allclose(found, expected, atol=1e-6)
    narrower = restricted_attention(query, key, value, 17)
    assert not torch.allclose(narrower, expected, atol=1e-4)


def test_restricted_attention_refuses_an_even_neighbourhood():
    x = torch.randn(2, 5, 4)
    with pytest.raises(ValueError, match=r"odd number of neighbours.*found 4"):
        restricted_attention(x, x, x, 4)


@pytest.mark.parametrize("kind", LAYER_KINDS)
def test_a_layer_keeps_the_shape_and_mixes_no_batch(kind):
    torch.manual_seed(0)
    layer = make_layer(kind, 6, 3)
    x = torch.randn(3, 7, 6)
    assert layer(x).shape == x.shape
    assert torch.allclose(layer(x)[1:2], layer(x[1:2]), atol=1e-6)


@pytest.mark.parametrize("kind", sorted(set(LAYER_KINDS) - TWO_SIDED))
def test_recurrent_and_convolutional_layers_do_not_see_the_future(kind):
    torch.manual_seed(0)
    layer = make_layer(kind, 6, 3)
    x, other = torch.randn(2, 1, 9, 6)
    other[:, :5] = x[:, :5]
    assert torch.allclose(layer(x)[:, :5], layer(other)[:, :5], atol=1e-6)
    assert not torch.allclose(layer(x)[:, 5:], layer(other)[:, 5:], atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "width"), [("restricted_attention", 2), ("convolution", 0), ("gru", 3)]
)
def test_make_layer_refuses_what_it_cannot_make(kind, width):
    with pytest.raises(
        ValueError, match=f"found '?{width if kind != 'gru' else 'gru'}"
    ):
        make_layer(kind, 4, width)
