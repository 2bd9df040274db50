"""Root mean square normalisation, without a mean (Zhang & Sennrich, 2019)."""

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """Divide each token's vector by its root mean square, then scale it.

    Args:
        d_model: width.
        eps: added to the mean square.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        """Make the scale γ, without a shift."""
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., d_model) to the same shape: γ x / √(mean of x² + eps)."""
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return self.gamma * x / (mean_square + self.eps).sqrt()
