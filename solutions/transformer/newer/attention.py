"""Attention that includes positions, and attention with fewer key and value heads."""

import torch
from torch import Tensor, nn

from transformer.attention import attention_scores, masked_softmax
from transformer.config import require_even
from transformer.multi_head import MultiHeadAttention, merge_heads, split_heads


def rotate(x: Tensor) -> Tensor:
    """Rotate each pair of columns by an angle that grows with the position.

    As in Su et al. (2021), pair i of the vector at position p is rotated by the angle p
    10000^(-2i/d_k). The product of a query and a key then depends on their distance.

    Args:
        x: queries or keys, (..., t, d_k), of which the first has position 0.

    Returns:
        (..., t, d_k), with the lengths of the vectors unchanged.

    Raises:
        ValueError: if d_k is odd.
    """
    t, d_k = x.shape[-2:]
    require_even(d_k)
    rates = 10000.0 ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
    angles = torch.arange(t, device=x.device)[:, None] * rates  # (t, d_k / 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(start_dim=-2)


class RotaryAttention(MultiHeadAttention):
    """Multi-head attention with queries and keys rotated by their positions."""

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend like `MultiHeadAttention.attend`, but rotate q and k first."""
        return super().attend(rotate(q), rotate(k), v, mask)


def distance_bias(t: int, s: int, n_heads: int) -> Tensor:
    """Return ALiBi's bias, which penalises distant keys (Press et al., 2022).

    Args:
        t: number of queries.
        s: number of keys.
        n_heads: number of heads h. The scores of head i, counted from 1, fall by
            2^(-8i/h) for each position of distance.

    Returns:
        (h, t, s), 0 for a query and a key at the same position, and negative elsewhere.
            The paper's models attend only to earlier keys. Here the bias is the same in
            both directions.
    """
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (torch.arange(t)[:, None] - torch.arange(s)).abs()
    return -slopes[:, None, None] * distance


class BiasedAttention(MultiHeadAttention):
    """Multi-head attention that subtracts a distance bias from every score (ALiBi)."""

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend like `MultiHeadAttention.attend`, but add the bias to the scores."""
        bias = distance_bias(q.size(-2), k.size(-2), self.n_heads).to(q)
        weights = masked_softmax(attention_scores(q, k) + bias, mask)
        return self.w_o(merge_heads(weights @ v)), weights


class GroupedQueryAttention(MultiHeadAttention):
    """Attention in which several query heads share one head of keys and values.

    The groups follow Ainslie et al. (2023). With one group it is the multi-query
    attention of Shazeer (2019).

    Args:
        d_model: width of the inputs and of the output.
        n_heads: number of heads of queries, which must divide d_model.
        n_groups: number of heads of keys and values, which must divide n_heads.

    Raises:
        ValueError: if n_heads does not divide d_model, or n_groups does not divide
            n_heads.
    """

    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        """Make the projections, with `n_groups` heads of keys and values."""
        super().__init__(d_model, n_heads)
        if n_heads % n_groups:
            raise ValueError(
                f"n_heads must be a multiple of n_groups: {n_heads} is not a multiple "
                f"of {n_groups}"
            )
        self.n_groups = n_groups
        width = d_model // n_heads * n_groups
        self.w_k = nn.Linear(d_model, width)
        self.w_v = nn.Linear(d_model, width)

    def project_key_value(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Project to `n_groups` heads, and repeat each head for its queries."""
        k = split_heads(self.w_k(key), self.n_groups)  # (b, n_groups, s, d_k)
        v = split_heads(self.w_v(value), self.n_groups)
        times = self.n_heads // self.n_groups
        return k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
