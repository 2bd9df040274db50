"""Scale tensors (unit 01)."""

import torch
from torch import Tensor, nn

from tiny.basis import FACTOR


def double(x: Tensor) -> Tensor:
    """Return twice `x`."""
    ### BEGIN SOLUTION
    return FACTOR * x
    ### END SOLUTION


def quadruple(x: Tensor) -> Tensor:
    """Return four times `x`, by doubling."""
    ### BEGIN SOLUTION
    return double(double(x))
    ### END SOLUTION


class Scaler(nn.Module):
    """Multiply by a learned weight for each of `size` features."""

    def __init__(self, size: int):
        """Begin with ones."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        """Scale `x` of shape (b, size)."""
        ### BEGIN SOLUTION
        return x * self.weight
        ### END SOLUTION
