"""What an embedding's look-up abbreviates, and the gradient that it sends back."""

import torch
import torch.nn.functional as F
from torch import Tensor


def one_hot_embedding(ids: Tensor, weight: Tensor) -> Tensor:
    """Embed words as a one-hot vector times a matrix: what a look-up abbreviates.

    Args:
        ids: (...) word numbers.
        weight: (vocab_size, d_model), one row a word.

    Returns:
        (..., d_model).
    """
    ### BEGIN SOLUTION
    one_hot = F.one_hot(ids, num_classes=weight.size(0))  # (..., vocab_size)
    return one_hot.to(weight.dtype) @ weight
    ### END SOLUTION


def lookup_gradient(ids: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
    """Compute what a look-up sends back to its table: the gradient of each row.

    A row gets the sum of the gradients of all places where its word stands; the row of
    a word that does not occur gets zeros.

    Args:
        ids: (...) word numbers that were looked up.
        upstream: (..., d_model), the gradient of the loss for each vector looked up.
        vocab_size: number of rows of the table.

    Returns:
        (vocab_size, d_model), of the dtype of `upstream`.
    """
    ### BEGIN SOLUTION
    d_model = upstream.size(-1)
    table = torch.zeros(
        vocab_size, d_model, dtype=upstream.dtype, device=upstream.device
    )
    return table.index_add(0, ids.reshape(-1), upstream.reshape(-1, d_model))
    ### END SOLUTION
