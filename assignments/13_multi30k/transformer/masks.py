"""Masks: which query may attend to which key (Section 3.2.3 of Vaswani et al., 2017).

Every mask is boolean, True where a query may attend to a key.
"""

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide padding: no query may attend to a padding key.

    Args:
        ids: (b, s) word numbers.
        pad_id: number of the padding token.

    Returns:
        (b, 1, 1, s), True where the key is a word.
    """
    return (ids != pad_id)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Hide the future: query i may attend only to the keys 0 to i.

    Args:
        length: number of tokens t.
        device: device of the mask.

    Returns:
        (1, 1, t, t), True on and below the diagonal.
    """
    everywhere = torch.ones(length, length, dtype=torch.bool, device=device)
    return everywhere.tril()[None, None]


def target_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide both padding and the future, for the decoder's self-attention.

    Args:
        ids: (b, t) word numbers.
        pad_id: number of the padding token.

    Returns:
        (b, 1, t, t), True where the key is a word and is not after the query.
    """
    return padding_mask(ids, pad_id) & causal_mask(ids.size(1), ids.device)
