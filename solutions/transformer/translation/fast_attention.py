"""Attention with a single query, which the fast search uses in a decoder layer."""

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.multi_head import MultiHeadAttention

VECTOR = 16  # a processor computes 16 numbers at once, and a softmax of fewer is slow


class Reader:
    """Attention with a single query, without computing keys and values.

    The score q · (m W^K) equals (q W^Kᵀ) · m, and an average of values m W^V equals the
    average of m, times W^V. Instead of every m, the layer can therefore project one
    query and one average. The bias of W^K adds the same number to every score of a
    query, which does not change the softmax. The bias of W^V is added to every average.

    Args:
        attention: the attention layer with the weights.
    """

    def __init__(self, attention: MultiHeadAttention) -> None:
        """Rearrange the weights of the attention layer."""
        h, w_q, w_o = attention.n_heads, attention.w_q, attention.w_o
        self.w_k = attention.w_k.weight.unflatten(0, (h, -1))  # (h, d_k, d_model)
        w_v = attention.w_v.weight.unflatten(0, (h, -1))
        self.w_v = w_v.transpose(1, 2).contiguous()  # (h, d_model, d_k)
        scale = self.w_k.size(1) ** -0.5
        self.query = w_q.weight * scale, w_q.bias * scale
        self.output = w_o.weight, w_o(attention.w_v.bias)

    def __call__(self, x: Tensor, memory: Tensor, hidden: Tensor) -> Tensor:
        """Attend to the memory with one query for each row.

        Args:
            x: (n, d_model).
            memory: (n, s, d_model).
            hidden: the result of `hide` for a mask, broadcastable to (n, 1, s).

        Returns:
            (n, d_model).
        """
        q = F.linear(x, *self.query).view(len(x), len(self.w_k), -1).transpose(0, 1)
        q = q.bmm(self.w_k).transpose(0, 1)  # (n, h, d_model)
        scores = torch.baddbmm(hidden, q, memory.transpose(1, 2))  # (n, h, s)
        found = _softmax(scores).bmm(memory).transpose(0, 1)  # (h, n, d_model)
        heads = found.bmm(self.w_v).transpose(0, 1)  # (n, h, d_k)
        return F.linear(heads.reshape(x.shape), *self.output)


def hide(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert a mask (n, 1, 1, s) into numbers (n, 1, s) to add to scores.

    They are 0 where the mask is True, and very negative elsewhere.
    """
    allowed = mask.squeeze(1)
    nothing = torch.zeros(allowed.shape, dtype=dtype, device=mask.device)
    return nothing.masked_fill_(~allowed, torch.finfo(dtype).min)


def _softmax(scores: Tensor) -> Tensor:
    """Compute the softmax over the last dimension, quickly even if it is short."""
    s = scores.size(-1)
    if s < VECTOR:
        scores = F.pad(scores, (0, VECTOR - s), value=-torch.inf)
    return scores.softmax(dim=-1)[..., :s]
