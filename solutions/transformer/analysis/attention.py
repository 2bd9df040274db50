"""Measure how evenly attention spreads its weights over the keys."""

import torch
from torch import Tensor


def softmax_entropy(scores: Tensor) -> Tensor:
    """Measure how spread out the softmax of the scores is.

    Args:
        scores: (..., s), with -inf for a masked key.

    Returns:
        Entropy (...) in nats: 0 if one key has all the weight, ln s if all weights
        are equal.
    """
    ### BEGIN SOLUTION
    weights = scores.softmax(dim=-1)
    return torch.special.entr(weights).sum(dim=-1)  # entr(0) = 0, where 0 * ln 0 is NaN
    ### END SOLUTION
