"""Shift positions by a linear map (Section 3.5 of Vaswani et al., 2017)."""

import torch
from torch import Tensor

from transformer.config import require_even


def offset_matrix(k: int, d_model: int) -> Tensor:
    """Return the matrix M that moves every position by k: PE[p + k] = M PE[p].

    Args:
        k: number of positions to move by, which may be negative.
        d_model: width, even.

    Returns:
        (d_model, d_model), of any float dtype, with one 2 by 2 rotation for each pair
        of columns on its diagonal. It does not depend on p.

    Raises:
        ValueError: if d_model is odd.
    """
    require_even(d_model)
    ### BEGIN SOLUTION
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)
    ### END SOLUTION
