"""Measure the influence of each input token on each output token."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.functional import jacobian


def influence(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Measure |∂out_i / ∂x_j| for every pair of tokens of one sentence.

    Args:
        function: maps (1, s, d_model) to (1, t, d).
        x: (s, d_model), one vector per token.

    Returns:
        (t, s): the Frobenius norm of the d by d_model block of derivatives. It is
        exactly 0 where output i does not depend on input j.
    """
    blocks = jacobian(lambda tokens: function(tokens[None])[0], x)  # (t, d, s, d_model)
    return torch.linalg.vector_norm(blocks, dim=(1, 3))
