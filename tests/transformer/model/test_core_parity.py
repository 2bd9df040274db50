"""The building blocks equal PyTorch's own, forward and backward, in every variant."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer.attention import scaled_dot_product_attention
from transformer.config import TransformerConfig
from transformer.decoder import Decoder, DecoderLayer
from transformer.encoder import Encoder, EncoderLayer
from transformer.feed_forward import ConvFeedForward, layer_norm
from transformer.masks import causal_mask, padding_mask
from transformer.multi_head import MultiHeadAttention

B, H, T, S, D, D_FF = 2, 3, 4, 5, 12, 20
SRC = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 1, 1]])
TGT = torch.tensor([[2, 6, 7, 8], [2, 6, 1, 1]])


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def assert_same_gradients(ours: torch.Tensor, theirs: torch.Tensor, inputs) -> None:
    """Compare the outputs, and the gradients of a random weighting of them."""
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
    upstream = torch.randn_like(ours)
    mine = torch.autograd.grad((ours * upstream).sum(), inputs)
    trusted = torch.autograd.grad((theirs * upstream).sum(), inputs)
    for a, b in zip(mine, trusted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def config(**changes) -> TransformerConfig:
    sizes = {"d_model": D, "n_heads": H, "n_layers": 2, "d_ff": D_FF, "dropout": 0.0}
    return TransformerConfig(30, 31, **{**sizes, **changes})


def randomise(module: nn.Module) -> None:
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    maps = [ours.w_q, ours.w_k, ours.w_v]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
        theirs.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
        theirs.out_proj.load_state_dict(ours.w_o.state_dict())


def copy_layer(ours: nn.Module, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.linear1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.linear2.state_dict())
    theirs.norm1.load_state_dict(ours.add_norm1.norm.state_dict())
    theirs.norm2.load_state_dict(ours.add_norm2.norm.state_dict())
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        theirs.norm3.load_state_dict(ours.add_norm3.norm.state_dict())


def torch_layer(kind: type, norm_first: bool) -> nn.Module:
    layer = kind(D, H, D_FF, dropout=0.0, batch_first=True, norm_first=norm_first)
    return layer.double()


@pytest.mark.parametrize("shape", [(1, 1, T, S), (B, 1, 1, S), (B, H, T, S)])
def test_attention_equals_sdpa_with_every_shape_of_mask(shape):
    q, k, v = randn(B, H, T, 6), randn(B, H, S, 6), randn(B, H, S, 7)
    mask = torch.rand(shape) > 0.4
    mask[..., 0] = True
    ours, _ = scaled_dot_product_attention(q, k, v, mask)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert_same_gradients(ours, theirs, [q, k, v])


def test_attention_of_a_fully_masked_row_is_zero_with_finite_gradients():
    q, k, v = randn(B, H, T, 6), randn(B, H, S, 6), randn(B, H, S, 7)
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[2] = False
    ours, weights = scaled_dot_product_attention(q, k, v, mask)
    assert ours[:, :, 2].eq(0).all() and weights[:, :, 2].eq(0).all()
    gradients = torch.autograd.grad(ours.sum(), [q, k, v], retain_graph=True)
    assert all(g.isfinite().all() for g in gradients)
    rows = [0, 1, 3]
    theirs = F.scaled_dot_product_attention(q[:, :, rows], k, v, attn_mask=mask[rows])
    assert_same_gradients(ours[:, :, rows], theirs, [q, k, v])


def test_multi_head_attention_equals_torch_with_padding():
    ours = MultiHeadAttention(D, H).double()
    theirs = nn.MultiheadAttention(D, H, batch_first=True).double()
    randomise(ours)
    copy_attention(ours, theirs)
    x, y, z = randn(B, T, D), randn(B, S, D), randn(B, S, D)
    pad = SRC == 1
    got, weights = ours(x, y, z, padding_mask(SRC, 1))
    want, trusted = theirs(x, y, z, key_padding_mask=pad, average_attn_weights=False)
    assert_same_gradients(got, want, [x, y, z])
    torch.testing.assert_close(weights, trusted)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer_equals_torch(norm_first):
    ours = EncoderLayer(config(norm_first=norm_first)).double()
    theirs = torch_layer(nn.TransformerEncoderLayer, norm_first)
    randomise(ours)
    copy_layer(ours, theirs)
    x = randn(B, S, D)
    want = theirs(x, src_key_padding_mask=SRC == 1)
    assert_same_gradients(ours(x, padding_mask(SRC, 1)), want, [x])


@pytest.mark.parametrize("norm_first", [False, True])
def test_decoder_layer_equals_torch(norm_first):
    ours = DecoderLayer(config(norm_first=norm_first)).double()
    theirs = torch_layer(nn.TransformerDecoderLayer, norm_first)
    randomise(ours)
    copy_layer(ours, theirs)
    x, memory = randn(B, T, D), randn(B, S, D)
    mask = padding_mask(TGT, 1) & causal_mask(T)
    got, _ = ours(x, memory, mask, padding_mask(SRC, 1))
    want = theirs(
        x,
        memory,
        tgt_mask=~causal_mask(T)[0, 0],
        tgt_key_padding_mask=TGT == 1,
        memory_key_padding_mask=SRC == 1,
    )
    assert_same_gradients(got, want, [x, memory])


@pytest.mark.parametrize("norm_first", [False, True])
def test_stacks_equal_torch(norm_first):
    encoder = Encoder(config(norm_first=norm_first)).double()
    decoder = Decoder(config(norm_first=norm_first)).double()
    x, y = randn(B, S, D), randn(B, T, D)
    want_x, want_y = x, None
    last = nn.LayerNorm(D).double() if norm_first else nn.Identity()
    for layer in encoder.layers:
        randomise(layer)
        theirs = torch_layer(nn.TransformerEncoderLayer, norm_first)
        copy_layer(layer, theirs)
        want_x = theirs(want_x)
    memory, want_y = last(want_x), y
    for layer in decoder.layers:
        randomise(layer)
        theirs = torch_layer(nn.TransformerDecoderLayer, norm_first)
        copy_layer(layer, theirs)
        want_y = theirs(want_y, memory)
    got, cross = decoder(y, encoder(x))
    assert_same_gradients(got, last(want_y), [x, y])
    assert [tuple(w.shape) for w in cross] == [(B, H, T, S)] * 2


def test_conv_feed_forward_equals_linear():
    conv = ConvFeedForward(D, D_FF).double()
    linear = EncoderLayer(config()).double().feed_forward
    with torch.no_grad():
        linear.linear1.weight.copy_(conv.conv1.weight.squeeze(-1))
        linear.linear2.weight.copy_(conv.conv2.weight.squeeze(-1))
        linear.linear1.bias.copy_(conv.conv1.bias)
        linear.linear2.bias.copy_(conv.conv2.bias)
    x = randn(B, T, D)
    assert_same_gradients(conv(x), linear(x), [x])


def test_layer_norm_equals_torch():
    x, gamma, beta = randn(B, T, D), randn(D), randn(D)
    want = F.layer_norm(x, (D,), gamma, beta, 1e-3)
    assert_same_gradients(layer_norm(x, gamma, beta, 1e-3), want, [x, gamma, beta])
