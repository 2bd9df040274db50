"""Make the parts of the encoder and the decoder from a configuration.

The parts are the input embedding (Sections 3.4 and 3.5) and the sub-layers of each
layer.
"""

import torch
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.embeddings import TokenEmbedding
from transformer.feed_forward import AddNorm, ConvFeedForward, PositionwiseFeedForward
from transformer.multi_head import MultiHeadAttention
from transformer.positional import (
    LearnedPositionalEncoding,
    SinusoidalPositionalEncoding,
)


def make_positions(config: TransformerConfig) -> nn.Module:
    """Make the positional encoding that the configuration asks for."""
    if config.positions == "none":
        return NoPositionalEncoding()
    kinds = {
        "learned": LearnedPositionalEncoding,
        "sinusoidal": SinusoidalPositionalEncoding,
    }
    return kinds[config.positions](config.d_model, config.max_len)


class NoPositionalEncoding(nn.Module):
    """Leave the tokens without positions, so that the model ignores their order."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Return x unchanged."""
        return x


class InputEmbedding(nn.Module):
    """Word vectors plus positions, with dropout on their sum (Section 5.4).

    Args:
        vocab_size: words in the vocabulary.
        config: sizes and variants.
    """

    def __init__(self, vocab_size: int, config: TransformerConfig) -> None:
        """Make the word embedding and the positional encoding."""
        super().__init__()
        self.tokens = TokenEmbedding(vocab_size, config.d_model)
        self.positions = make_positions(config)
        self.dropout = nn.Dropout(config.dropout)
        self.vocab_size = vocab_size

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Embed the words `ids` (b, t), the first of which is at position `start`.

        Returns:
            (b, t, d_model).

        Raises:
            ValueError: if `ids` is not a batch of word numbers, has no token, contains
                a number that is not a word, or is longer than the table of positions.
        """
        self._require_ids(ids)
        return self.dropout(self.positions(self.tokens(ids), start))

    def _require_ids(self, ids: Tensor) -> None:
        if ids.dim() != 2 or ids.dtype not in (torch.int32, torch.int64):
            raise ValueError(
                "expected word numbers of shape (batch, length), int64: found shape "
                f"{tuple(ids.shape)}, {ids.dtype}"
            )
        if ids.numel() == 0:
            raise ValueError(f"a sentence has no token: found shape {tuple(ids.shape)}")
        least, most = (int(end) for end in torch.aminmax(ids))
        if least < 0 or most >= self.vocab_size:
            wrong = least if least < 0 else most
            raise ValueError(
                f"{wrong} is no word of this vocabulary: word numbers go from 0 to "
                f"{self.vocab_size - 1}"
            )


def make_attention(config: TransformerConfig) -> MultiHeadAttention:
    """Make one multi-head attention with the sizes of the configuration."""
    return MultiHeadAttention(config.d_model, config.n_heads, config.weight_dropout)


def make_feed_forward(config: TransformerConfig) -> nn.Module:
    """Make the kind of feed-forward layer that the configuration asks for."""
    kinds = {"linear": PositionwiseFeedForward, "conv": ConvFeedForward}
    kind = kinds[config.feed_forward]
    return kind(config.d_model, config.d_ff, config.inner_dropout)


def make_add_norm(config: TransformerConfig) -> AddNorm:
    """Make the residual connection and the normalisation of one sub-layer."""
    return AddNorm(config.d_model, config.dropout, config.norm_first)
