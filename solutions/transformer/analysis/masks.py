"""Mask attention weights after the softmax, and renormalise the rows."""

from torch import Tensor


def mask_then_renormalise(weights: Tensor, mask: Tensor) -> Tensor:
    """Mask weights after the softmax, then make each row sum to 1 again.

    Args:
        weights: (..., t, s), not negative, each row summing to 1.
        mask: bool, broadcastable to the weights, True = may attend.

    Returns:
        (..., t, s): the weights that masking before the softmax gives. A row without
        an allowed key is all 0.
    """
    ### BEGIN SOLUTION
    kept = weights * mask
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)
    ### END SOLUTION
