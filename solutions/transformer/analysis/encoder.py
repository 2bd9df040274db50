"""Measure how far the encoder's layers change the direction of a token's vector."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


def drift(states: Sequence[Tensor]) -> Tensor:
    """Measure how far each token's vector has turned from its first direction.

    Args:
        states: n tensors (b, s, d_model), as `layer_states` returns them.

    Returns:
        (n, b, s): 1 minus the cosine of the angle to the token's vector in
        `states[0]`. 0 is the same direction, 1 a right angle, 2 the opposite.
    """
    ### BEGIN SOLUTION
    cosines = [F.cosine_similarity(state, states[0], dim=-1) for state in states]
    return 1 - torch.stack(cosines)
    ### END SOLUTION
