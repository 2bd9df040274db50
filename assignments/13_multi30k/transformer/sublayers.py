"""The sub-layers that encoder and decoder are made of, built from a configuration."""

from torch import nn

from transformer.config import TransformerConfig
from transformer.feed_forward import AddNorm, ConvFeedForward, PositionwiseFeedForward
from transformer.multi_head import MultiHeadAttention


def make_attention(config: TransformerConfig) -> MultiHeadAttention:
    """Make one multi-head attention of the configuration's sizes."""
    return MultiHeadAttention(config.d_model, config.n_heads, config.weight_dropout)


def make_feed_forward(config: TransformerConfig) -> nn.Module:
    """Make the feed-forward layer that the configuration asks for."""
    kinds = {"linear": PositionwiseFeedForward, "conv": ConvFeedForward}
    kind = kinds[config.feed_forward]
    return kind(config.d_model, config.d_ff, config.inner_dropout)


def make_add_norm(config: TransformerConfig) -> AddNorm:
    """Make the residual connection and normalisation around one sub-layer."""
    return AddNorm(config.d_model, config.dropout, config.norm_first)
