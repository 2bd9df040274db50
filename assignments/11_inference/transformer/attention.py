"""Scaled dot-product attention (Section 3.2.1 of Vaswani et al., 2017)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """Compare every query with every key: Q Kᵀ / √d_k, the softmax's input in Eq. 1.

    Args:
        query: (..., t, d_k).
        key: (..., s, d_k).

    Returns:
        Scores (..., t, s), with the score of query i and key j at [..., i, j].

    Raises:
        ValueError: if queries and keys have different widths.
    """
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "query and key must have the same width d_k: "
            f"found {query.size(-1)} and {key.size(-1)}"
        )
    d_k = query.size(-1)
    return query @ key.transpose(-2, -1) / math.sqrt(d_k)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights that sum to 1 over the keys that may be attended to.

    Args:
        scores: (..., t, s).
        mask: bool, broadcastable to the scores, True = may attend. None = all may.
            The mask may differ from head to head.

    Returns:
        Weights (..., t, s): 0 where the mask is False. The weights of a query that
        may attend to nothing are all 0.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)
    return weights * mask  # a query with no key: zeros, not 1/s


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Average the values, weighted by the softmax of their keys' scores (Eq. 1).

    Args:
        query: (..., t, d_k).
        key: (..., s, d_k).
        value: (..., s, d_v).
        mask: bool, broadcastable to (..., t, s), True = may attend. None = all may.
        dropout: probability of dropping a weight before averaging.

    Returns:
        The averages (..., t, d_v), and the weights (..., t, s) before dropout.

    Raises:
        ValueError: if queries and keys have different widths.
    """
    weights = masked_softmax(attention_scores(query, key), mask)
    return F.dropout(weights, dropout) @ value, weights
