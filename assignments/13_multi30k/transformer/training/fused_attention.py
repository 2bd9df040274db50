"""Attention for training, computed with PyTorch's fused kernels.

The readable version of this layer is `transformer.multi_head.MultiHeadAttention`. The
fused version has the same parameters and the same output. It returns no attention
weights, because the fused kernel never stores them.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.multi_head import MultiHeadAttention, merge_heads, split_heads


class FusedMultiHeadAttention(MultiHeadAttention):
    """Multi-head attention with one projection for Q, K and V, and a fused kernel.

    It has the same parameters as `MultiHeadAttention`, under the same names. It returns
    an empty tensor instead of the attention weights.
    """

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute the output of `MultiHeadAttention`.

        Args:
            query: (b, t, d_model).
            key: (b, s, d_model).
            value: (b, s, d_model).
            mask: bool, broadcastable to (b, h, t, s), True = may attend.

        Returns:
            Output (b, t, d_model) and an empty tensor.
        """
        q, k, v = self._project(query, key, value)
        heads = F.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
        )
        if mask is not None:
            heads = heads.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
        return self.w_o(merge_heads(heads)), query.new_empty(0)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> Iterator[Tensor]:
        """Project to queries, keys and values; equal inputs share one product."""
        parts = (self.w_q, self.w_k, self.w_v)
        inputs = (query, key, value)
        if query is key is value:
            projected = _together(query, parts)
        elif key is value:
            projected = [self.w_q(query), *_together(key, parts[1:])]
        else:
            projected = [w(x) for w, x in zip(parts, inputs, strict=True)]
        return (split_heads(x, self.n_heads) for x in projected)


def _together(x: Tensor, layers: tuple[nn.Linear, ...]) -> list[Tensor]:
    """Apply several linear layers to the same input with a single matrix product."""
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers])
    return list(F.linear(x, weight, bias).chunk(len(layers), dim=-1))


def use_fused_attention(model: nn.Module, on: bool = True) -> None:
    """Switch every multi-head attention of a model to the fused version, or back."""
    plain, fused = MultiHeadAttention, FusedMultiHeadAttention
    before, after = (plain, fused) if on else (fused, plain)
    for module in model.modules():
        if type(module) is before:
            module.__class__ = after
