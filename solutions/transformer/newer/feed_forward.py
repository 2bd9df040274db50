"""Feed-forward layers with newer activations instead of ReLU: GELU and SwiGLU."""

import torch.nn.functional as F
from torch import Tensor, nn


class GELUFeedForward(nn.Module):
    """Compute GELU(x W_1 + b_1) W_2 + b_2 (Hendrycks & Gimpel, 2016).

    Args:
        d_model: width of the input and of the output.
        d_ff: inner width.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        """Make the two linear maps."""
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (b, t, d_model) to (b, t, d_model)."""
        return self.linear2(F.gelu(self.linear1(x)))


class SwiGLUFeedForward(nn.Module):
    """Compute (SiLU(x W) * x V) W_2, without biases (Shazeer, 2020).

    The layer has three matrices instead of two. To keep the number of parameters, its
    inner width is two thirds of `d_ff`.

    Args:
        d_model: width of the input and of the output.
        d_ff: inner width of the layer that it replaces.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        """Make the three linear maps."""
        super().__init__()
        inner = round(2 * d_ff / 3)
        self.w = nn.Linear(d_model, inner, bias=False)
        self.v = nn.Linear(d_model, inner, bias=False)
        self.w2 = nn.Linear(inner, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (b, t, d_model) to (b, t, d_model)."""
        return self.w2(F.silu(self.w(x)) * self.v(x))
