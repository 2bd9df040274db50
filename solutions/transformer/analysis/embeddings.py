"""Embedding look-up as a matrix product, and the gradient of the embedding table."""

import torch
import torch.nn.functional as F
from torch import Tensor


def one_hot_embedding(ids: Tensor, weight: Tensor) -> Tensor:
    """Embed words as one-hot vectors times a matrix, the same as a look-up.

    Args:
        ids: (...) word numbers.
        weight: (vocab_size, d_model), one row for each word.

    Returns:
        (..., d_model).
    """
    ### BEGIN SOLUTION
    one_hot = F.one_hot(ids, num_classes=weight.size(0))  # (..., vocab_size)
    return one_hot.to(weight.dtype) @ weight
    ### END SOLUTION


def lookup_gradient(ids: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
    """Compute the gradient of a look-up for each row of its table.

    A row gets the sum of the gradients at all places where its word occurs. The row of
    a word that does not occur gets zeros.

    Args:
        ids: (...) word numbers that were looked up.
        upstream: (..., d_model), the loss's gradient for each vector looked up.
        vocab_size: number of rows of the table.

    Returns:
        (vocab_size, d_model), with the dtype of `upstream`.
    """
    ### BEGIN SOLUTION
    d_model = upstream.size(-1)
    table = torch.zeros(
        vocab_size, d_model, dtype=upstream.dtype, device=upstream.device
    )
    return table.index_add(0, ids.reshape(-1), upstream.reshape(-1, d_model))
    ### END SOLUTION
