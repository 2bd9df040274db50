"""An ablation removes exactly its part, and nothing else."""

import torch

from transformer.config import TransformerConfig
from transformer.experiments.ablation import leave_out_feed_forward
from transformer.feed_forward import PositionwiseFeedForward
from transformer.model import Transformer
from transformer.multi_head import count_parameters

CONFIG = TransformerConfig.tiny(12, 12, d_model=24, n_heads=4)


def test_without_feed_forward_only_its_layers_and_their_norms_are_missing():
    torch.manual_seed(0)
    whole, bare = Transformer(CONFIG), leave_out_feed_forward(Transformer(CONFIG))
    layers = 2 * CONFIG.n_layers
    gone = PositionwiseFeedForward(CONFIG.d_model, CONFIG.d_ff)
    missing = layers * (count_parameters(gone) + 2 * CONFIG.d_model)
    assert count_parameters(bare) == count_parameters(whole) - missing


def test_a_layer_without_feed_forward_is_its_attention():
    torch.manual_seed(0)
    layer = leave_out_feed_forward(Transformer(CONFIG).encoder.layers[0]).eval()
    x = torch.randn(2, 5, 24)
    attention = layer.self_attention(x, x, x)[0]
    assert torch.equal(layer(x), layer.add_norm1.norm(x + attention))


def test_a_decoder_layer_without_feed_forward_still_looks_at_the_memory():
    torch.manual_seed(0)
    layer = leave_out_feed_forward(Transformer(CONFIG).decoder.layers[0]).eval()
    x, memory = torch.randn(2, 5, 24), torch.randn(2, 7, 24, requires_grad=True)
    layer(x, memory)[0].sum().backward()
    assert memory.grad.abs().max() > 0
