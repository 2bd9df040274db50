"""The parts between the attention layers: feed-forward, residual, normalisation.

See Sections 3.1 and 3.3 of Vaswani et al. (2017), and Ba et al. (2016) for layer
normalisation.
"""

from collections.abc import Callable

from torch import Tensor, nn


class PositionwiseFeedForward(nn.Module):
    """Apply FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 to each token (Eq. 2).

    Args:
        d_model: width of the input and of the output.
        d_ff: inner width.
        dropout: rate for the inner activations.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        """Make the two linear maps."""
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (b, t, d_model) to (b, t, d_model)."""
        hidden = self.linear1(x).relu()  # (b, t, d_ff)
        return self.linear2(self.dropout(hidden))


def conv_feed_forward(x: Tensor, conv1: nn.Conv1d, conv2: nn.Conv1d) -> Tensor:
    """Compute the feed-forward layer as two convolutions of width 1.

    Args:
        x: (b, t, d_model).
        conv1: from d_model to d_ff channels, kernel size 1.
        conv2: from d_ff to d_model channels, kernel size 1.

    Returns:
        (b, t, d_model).
    """
    channels_first = x.transpose(1, 2)  # (b, d_model, t), as a convolution wants it
    return conv2(conv1(channels_first).relu()).transpose(1, 2)


class ConvFeedForward(nn.Module):
    """The feed-forward layer as two convolutions of width 1.

    Args:
        d_model: width of the input and of the output.
        d_ff: inner width.
        dropout: rate for the inner activations.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        """Make the two convolutions."""
        super().__init__()
        self.conv1 = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.conv2 = nn.Conv1d(d_ff, d_model, kernel_size=1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (b, t, d_model) to (b, t, d_model)."""
        conv2 = nn.Sequential(self.dropout, self.conv2)  # called like a Conv1d
        return conv_feed_forward(x, self.conv1, conv2)  # type: ignore[arg-type]


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    """Give each token's vector mean 0 and variance 1, then scale and shift it.

    Args:
        x: (..., d_model).
        gamma: (d_model,), the scale.
        beta: (d_model,), the shift.
        eps: added to the variance.

    Returns:
        (..., d_model): gamma (x - mean) / √(variance + eps) + beta, where the variance
        is the mean of (x - mean)². It must be accurate for x far from 0 too.
    """
    difference = x - x.mean(dim=-1, keepdim=True)
    variance = difference.square().mean(dim=-1, keepdim=True)
    return gamma * difference / (variance + eps).sqrt() + beta


class AddNorm(nn.Module):
    """Add a sub-layer's output to its input, and normalise.

    Post-norm, the paper's order, is LayerNorm(x + Dropout(f(x))). Pre-norm, with
    `norm_first`, is x + Dropout(f(LayerNorm(x))).

    Args:
        d_model: width.
        dropout: rate for the sub-layer's output.
        norm_first: whether to normalise before the sub-layer.
    """

    def __init__(
        self, d_model: int, dropout: float = 0.0, norm_first: bool = False
    ) -> None:
        """Make the normalisation: `nn.LayerNorm` is a faster `layer_norm`."""
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply AddNorm around `sublayer`, which keeps x's shape (b, t, d_model)."""
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
