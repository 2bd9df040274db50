"""One step of a GRU (Cho et al., 2014), the cell of the recurrent translators.

Shapes: b sentences, d the width of the input, d_h the width of a state.
"""

import torch
from torch import Tensor


def gru_step(
    x: Tensor,
    state: Tensor,
    w_x: Tensor,
    w_state: Tensor,
    b_x: Tensor,
    b_state: Tensor,
) -> Tensor:
    """Compute a GRU's new state from its old state and its input.

    Weights and biases have the layout of `nn.GRUCell`: three blocks of d_h rows, for
    the reset gate, the update gate and the proposal.

    Args:
        x: the input, (b, d).
        state: h_{j-1} (b, d_h), the old state.
        w_x: (3 d_h, d), the three matrices W for the input.
        w_state: (3 d_h, d_h), the three matrices U for the state.
        b_x: (3 d_h,), added to `x` times W.
        b_state: (3 d_h,), added to the state times U.

    Returns:
        h_j (b, d_h), finite for inputs of any size.
    """
    ### BEGIN SOLUTION
    x_reset, x_update, x_new = (x @ w_x.T + b_x).chunk(3, dim=-1)  # (b, d_h) each
    h_reset, h_update, h_new = (state @ w_state.T + b_state).chunk(3, dim=-1)
    reset = torch.sigmoid(x_reset + h_reset)
    update = torch.sigmoid(x_update + h_update)
    proposal = torch.tanh(x_new + reset * h_new)
    return update * state + (1 - update) * proposal
    ### END SOLUTION
