"""The decoder, whose layers also attend to the encoder's memory (Section 3.1)."""

from typing import cast

from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.parts import make_add_norm, make_attention, make_feed_forward


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each in an `AddNorm`.

    Args:
        config: sizes and variants.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make the three sub-layers, and an `AddNorm` for each."""
        super().__init__()
        self.self_attention = make_attention(config)
        self.cross_attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.add_norm1 = make_add_norm(config)
        self.add_norm2 = make_add_norm(config)
        self.add_norm3 = make_add_norm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        src_mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attend to the words so far and to the source, then transform each token.

        Args:
            x: (b, t, d_model).
            memory: (b, s, d_model), from the encoder.
            tgt_mask: bool, broadcastable to (b, h, t, t), for self-attention.
            src_mask: bool, broadcastable to (b, h, t, s), for cross-attention.

        Returns:
            (b, t, d_model), and the cross-attention weights (b, h, t, s).
        """
        found: list[Tensor] = []

        def look_up(y: Tensor) -> Tensor:
            found[:] = self.cross_attention(y, memory, memory, src_mask)
            return found[0]

        x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
        x = self.add_norm2(x, look_up)
        return self.add_norm3(x, self.feed_forward), found[1]


class Decoder(nn.Module):
    """`n_layers` decoder layers, with a last normalisation if they are pre-norm.

    Args:
        config: sizes and variants.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make the layers, which share no parameters."""
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(config) for _ in range(config.n_layers)
        )
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        src_mask: Tensor | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        """Pass the embedded target through every layer, each with the same memory.

        Args:
            x: (b, t, d_model).
            memory: (b, s, d_model), from the encoder's last layer.
            tgt_mask: bool, broadcastable to (b, h, t, t), for self-attention.
            src_mask: bool, broadcastable to (b, h, t, s), for cross-attention.

        Returns:
            (b, t, d_model), and each layer's cross-attention weights (b, h, t, s).
        """
        cross_attention = []
        for layer in self.layers:
            x, weights = layer(x, memory, tgt_mask, src_mask)
            cross_attention.append(weights)
        return self.norm(x), cross_attention


def layers_of(decoder: Decoder) -> list[DecoderLayer]:
    """Return the layers as a typed list, because `nn.ModuleList` does not type them."""
    return cast("list[DecoderLayer]", list(decoder.layers))
