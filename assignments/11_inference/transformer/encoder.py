"""The encoder: a stack of self-attention and feed-forward layers (Section 3.1)."""

from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.parts import make_add_norm, make_attention, make_feed_forward


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each inside an `AddNorm`.

    Args:
        config: sizes and variants.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make the two sub-layers, and an `AddNorm` for each."""
        super().__init__()
        self.self_attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.add_norm1 = make_add_norm(config)
        self.add_norm2 = make_add_norm(config)

    def forward(self, x: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Apply self-attention to the source, then feed-forward to each token.

        Args:
            x: (b, s, d_model).
            src_mask: bool, broadcastable to (b, h, s, s), True = may attend.

        Returns:
            (b, s, d_model).
        """
        x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
        return self.add_norm2(x, self.feed_forward)


class Encoder(nn.Module):
    """`n_layers` encoder layers, with a last normalisation if they are pre-norm.

    Args:
        config: sizes and variants.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make the layers, which share no parameters."""
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(config) for _ in range(config.n_layers)
        )
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, x: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Pass the embedded source through every layer.

        Args:
            x: (b, s, d_model).
            src_mask: bool, broadcastable to (b, h, s, s), True = may attend.

        Returns:
            The memory (b, s, d_model).
        """
        for layer in self.layers:
            x = layer(x, src_mask)
        return self.norm(x)


def layer_states(
    encoder: Encoder, x: Tensor, src_mask: Tensor | None = None
) -> list[Tensor]:
    """Collect every token's vector at the encoder's input and after each layer.

    Args:
        encoder: any stack with `layers`.
        x: (b, s, d_model).
        src_mask: bool, broadcastable to (b, h, s, s), True = may attend.

    Returns:
        n_layers + 1 tensors (b, s, d_model): x, then the output of each layer,
        without any last normalisation.
    """
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask))
    return states
