"""Average the attention weights of the decoder's heads."""

import torch
from torch import Tensor


def average_heads(cross_attention: list[Tensor]) -> Tensor:
    """Average the cross-attention of all heads in all layers.

    Args:
        cross_attention: each layer's weights (b, h, t, s), as `Decoder` returns them.

    Returns:
        (b, t, s): the mean weight of each source token for each target token. Rows
        sum to 1.
    """
    ### BEGIN SOLUTION
    return torch.stack(cross_attention).mean(dim=(0, 2))  # (layers, b, h, t, s)
    ### END SOLUTION
