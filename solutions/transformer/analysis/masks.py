"""Masking after the softmax, which needs a repair."""

from torch import Tensor


def mask_then_renormalise(weights: Tensor, mask: Tensor) -> Tensor:
    """Mask weights after the softmax, and make each row sum to 1 again.

    Args:
        weights: (..., t, s), not negative, each row summing to 1.
        mask: bool, broadcastable to the weights, True = may attend.

    Returns:
        (..., t, s): what masking the scores before the softmax gives. A row that may
        attend to nothing is all 0.
    """
    ### BEGIN SOLUTION
    kept = weights * mask
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)
    ### END SOLUTION
