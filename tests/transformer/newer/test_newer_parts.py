"""Parts from after the paper, compared with formulas, PyTorch and their properties."""

import pytest
import torch
import torch.nn.functional as F

from transformer.config import TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward
from transformer.masks import causal_mask
from transformer.model import Transformer
from transformer.multi_head import MultiHeadAttention, count_parameters
from transformer.newer.attention import (
    BiasedAttention,
    GroupedQueryAttention,
    RotaryAttention,
    distance_bias,
    rotate,
)
from transformer.newer.feed_forward import GELUFeedForward, SwiGLUFeedForward
from transformer.newer.norms import RMSNorm
from transformer.newer.swap import swap

ATTENTIONS = {
    "rotary": lambda: RotaryAttention(24, 4),
    "ALiBi": lambda: BiasedAttention(24, 4),
    "grouped": lambda: GroupedQueryAttention(24, 4, 2),
    "multi-query": lambda: GroupedQueryAttention(24, 4, 1),
}


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_rms_norm_is_pytorchs():
    x, norm = 3 * torch.randn(2, 5, 8) + 1, RMSNorm(8)
    with torch.no_grad():
        norm.gamma.normal_()
    assert torch.allclose(norm(x), F.rms_norm(x, (8,), norm.gamma, 1e-5), atol=1e-6)


def test_rms_norm_is_layer_norm_where_the_mean_is_zero():
    x = torch.randn(2, 5, 8)
    x = x - x.mean(dim=-1, keepdim=True)
    assert torch.allclose(RMSNorm(8)(x), F.layer_norm(x, (8,)), atol=1e-5)


def test_swiglu_has_two_thirds_of_the_width_and_the_parameters_of_a_relu():
    new, old = SwiGLUFeedForward(64, 192), PositionwiseFeedForward(64, 192)
    biases = 192 + 64
    assert count_parameters(new) == count_parameters(old) - biases
    x = torch.randn(2, 3, 64)
    gate, up = x @ new.w.weight.T, x @ new.v.weight.T
    by_hand = (gate * gate.sigmoid() * up) @ new.w2.weight.T
    assert torch.allclose(new(x), by_hand, atol=1e-6)


def test_gelu_lies_near_relu_where_the_numbers_are_large():
    new, old = GELUFeedForward(8, 16), PositionwiseFeedForward(8, 16)
    new.load_state_dict(old.state_dict())
    x = 1000 * torch.randn(2, 3, 8)
    assert torch.allclose(new(x), old(x), rtol=1e-4, atol=1e-2)
    assert not torch.allclose(new(x / 1000), old(x / 1000), atol=1e-3)


def test_rotation_keeps_lengths_and_leaves_position_0():
    x = torch.randn(2, 3, 7, 8)
    turned = rotate(x)
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-5)
    assert torch.equal(turned[:, :, 0], x[:, :, 0])


def test_rotated_scores_depend_on_the_distance_alone():
    q, k = torch.randn(8).double(), torch.randn(8).double()
    scores = rotate(q.expand(12, 8)) @ rotate(k.expand(12, 8)).T
    for offset in range(-11, 12):
        line = scores.diagonal(offset)
        assert torch.allclose(line, line[:1].expand_as(line), atol=1e-6)
    assert scores[0].std() > 0.01


def test_rotation_wants_pairs():
    with pytest.raises(ValueError, match="even"):
        rotate(torch.randn(3, 5))


def test_alibis_slopes_are_the_papers():
    slopes = -distance_bias(2, 2, 8)[:, 0, 1]
    assert slopes.tolist() == [2.0**-i for i in range(1, 9)]
    assert (distance_bias(4, 4, 8).diagonal(dim1=1, dim2=2) == 0).all()


def test_a_group_for_each_head_is_multi_head_attention():
    new, old = GroupedQueryAttention(24, 4, 4), MultiHeadAttention(24, 4)
    new.load_state_dict(old.state_dict())
    x = torch.randn(2, 5, 24)
    assert torch.allclose(new(x, x, x)[0], old(x, x, x)[0], atol=1e-6)


def test_heads_of_a_group_share_keys_and_values():
    key, value = GroupedQueryAttention(24, 4, 2).project_key_value(
        torch.randn(2, 5, 24), torch.randn(2, 5, 24)
    )
    for shared in (key, value):
        assert shared.shape == (2, 4, 5, 6)
        assert torch.equal(shared[:, 0], shared[:, 1])
        assert not torch.equal(shared[:, 1], shared[:, 2])


def test_groups_must_divide_the_heads():
    with pytest.raises(ValueError, match="multiple of n_groups"):
        GroupedQueryAttention(24, 4, 3)


@pytest.mark.parametrize("make", ATTENTIONS.values(), ids=ATTENTIONS)
def test_attention_keeps_its_shapes_and_its_mask(make):
    attention, x = make(), torch.randn(2, 5, 24, requires_grad=True)
    output, weights = attention(x, x, x, causal_mask(5))
    assert output.shape == (2, 5, 24) and weights.shape == (2, 4, 5, 5)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 4, 5))
    output[:, 1].sum().backward()
    assert x.grad[:, 2:].abs().max() == 0


@pytest.mark.parametrize(
    "make", list(ATTENTIONS.values())[:2], ids=list(ATTENTIONS)[:2]
)
def test_attention_with_positions_inside_knows_the_order(make):
    attention, x = make(), torch.randn(1, 5, 24)
    flipped = attention(x.flip(1), x.flip(1), x.flip(1))[0].flip(1)
    order = torch.tensor([1, 0, 2, 3, 4])
    swapped = attention(x[:, order], x[:, order], x[:, order])[0][:, order]
    plain = attention(x, x, x)[0]
    assert not torch.allclose(plain, swapped, atol=1e-4)
    if isinstance(attention, BiasedAttention):  # both directions have the same weight
        assert torch.allclose(plain, flipped, atol=1e-5)


def test_swap_replaces_all_of_a_kind_and_trains_them():
    model = Transformer(TransformerConfig.tiny(12, 12, d_model=24, n_heads=4))
    swap(model, MultiHeadAttention, lambda: RotaryAttention(24, 4), "self_attention")
    kinds = {n: type(m) for n, m in model.named_modules() if n.endswith("_attention")}
    assert len(kinds) == 6
    for name, kind in kinds.items():
        rotary = "self_attention" in name
        assert kind is (RotaryAttention if rotary else MultiHeadAttention), name
    model(torch.tensor([[4, 5]]), torch.tensor([[2, 6]])).sum().backward()
    assert model.encoder.layers[0].self_attention.w_q.weight.grad.abs().max() > 0


def test_swap_says_that_there_is_nothing_to_replace():
    model = Transformer(TransformerConfig.tiny(12, 12, d_model=24, n_heads=4))
    with pytest.raises(ValueError, match="no RMSNorm"):
        swap(model, RMSNorm, lambda: RMSNorm(24))
