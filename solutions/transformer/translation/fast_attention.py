"""Attention with one query: what the fast search saves in a decoder's layer."""

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.multi_head import MultiHeadAttention

VECTOR = 16  # numbers that a processor computes at once; the softmax of fewer is slow


class Reader:
    """Attention with one query to vectors of which no key and no value is made.

    The score q · (m W^K) is (q W^Kᵀ) · m, and an average of values m W^V is the average
    of m, times W^V: one query and one average are projected in place of every m. The
    bias of W^K adds the same to every score of a query, which the softmax does not see;
    that of W^V adds itself to every average.

    Args:
        attention: whose weights to use.
    """

    def __init__(self, attention: MultiHeadAttention) -> None:
        """Prepare the weights."""
        h, w_q, w_o = attention.n_heads, attention.w_q, attention.w_o
        self.w_k = attention.w_k.weight.unflatten(0, (h, -1))  # (h, d_k, d_model)
        w_v = attention.w_v.weight.unflatten(0, (h, -1))
        self.w_v = w_v.transpose(1, 2).contiguous()  # (h, d_model, d_k)
        scale = self.w_k.size(1) ** -0.5
        self.query = w_q.weight * scale, w_q.bias * scale
        self.output = w_o.weight, w_o(attention.w_v.bias)

    def __call__(self, x: Tensor, memory: Tensor, hidden: Tensor) -> Tensor:
        """Attend.

        Args:
            x: (n, d_model).
            memory: (n, s, d_model).
            hidden: what `hide` makes of a mask, broadcastable to (n, 1, s).

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
    """Turn a mask (n, 1, 1, s) into (n, 1, s), to be added to scores.

    It is 0 where the mask is True, and very low elsewhere.
    """
    allowed = mask.squeeze(1)
    nothing = torch.zeros(allowed.shape, dtype=dtype, device=mask.device)
    return nothing.masked_fill_(~allowed, torch.finfo(dtype).min)


def _softmax(scores: Tensor) -> Tensor:
    """Compute the softmax over the last dimension, fast also if that is short."""
    s = scores.size(-1)
    if s < VECTOR:
        scores = F.pad(scores, (0, VECTOR - s), value=-torch.inf)
    return scores.softmax(dim=-1)[..., :s]
