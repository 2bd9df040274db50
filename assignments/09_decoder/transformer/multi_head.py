"""Multi-head attention (Section 3.2.2 of Vaswani et al., 2017)."""

from torch import Tensor, nn

from transformer.attention import scaled_dot_product_attention


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Give each head its own slice of every token's vector.

    Args:
        x: (b, t, d_model).
        n_heads: number of heads h.

    Returns:
        (b, h, t, d_k) with d_k = d_model / h; head i has the columns i d_k to
        (i + 1) d_k - 1 of every token.

    Raises:
        ValueError: if d_model is not a multiple of n_heads.
    """
    if x.size(-1) % n_heads:
        raise ValueError(
            f"d_model must be a multiple of n_heads: {x.size(-1)} is not a multiple "
            f"of {n_heads}"
        )
    b, t, d_model = x.shape
    heads = x.view(b, t, n_heads, d_model // n_heads)  # (b, t, h, d_k)
    return heads.transpose(1, 2)  # (b, h, t, d_k)


def merge_heads(x: Tensor) -> Tensor:
    """Place the heads' vectors side by side: the inverse of `split_heads`.

    Args:
        x: (b, h, t, d_k).

    Returns:
        (b, t, h d_k).
    """
    return x.transpose(1, 2).flatten(start_dim=2)  # (b, t, h, d_k) -> (b, t, h d_k)


class MultiHeadAttention(nn.Module):
    """Attend with several heads at once and mix their outputs.

    Args:
        d_model: width of the inputs and of the output.
        n_heads: number of heads; must divide d_model.
        dropout: rate for the attention weights, in training.

    Raises:
        ValueError: if d_model is not a multiple of n_heads.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        """Make the four projections W^Q, W^K, W^V (all heads at once) and W^O."""
        super().__init__()
        if d_model % n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads: {d_model} is not a multiple "
                f"of {n_heads}"
            )
        self.n_heads = n_heads
        self.dropout = dropout
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def project_query(self, query: Tensor) -> Tensor:
        """Project (b, t, d_model) to the heads' queries (b, h, t, d_k)."""
        return split_heads(self.w_q(query), self.n_heads)

    def project_key_value(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Project key and value, each (b, s, d_model), to k and v (b, h, s, d_k)."""
        k = split_heads(self.w_k(key), self.n_heads)
        v = split_heads(self.w_v(value), self.n_heads)
        return k, v

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run all heads' attention, then mix their outputs with W^O.

        Args:
            q: (b, h, t, d_k).
            k: (b, h, s, d_k).
            v: (b, h, s, d_k).
            mask: bool, broadcastable to (b, h, t, s), True = may attend.

        Returns:
            Output (b, t, d_model) and attention weights (b, h, t, s).
        """
        dropout = self.dropout if self.training else 0.0
        heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
        return self.w_o(merge_heads(heads)), weights

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O.

        Args:
            query: (b, t, d_model).
            key: (b, s, d_model).
            value: (b, s, d_model).
            mask: bool, broadcastable to (b, h, t, s), True = may attend. It may
                be different for each head.

        Returns:
            Output (b, t, d_model) and attention weights (b, h, t, s).
        """
        q = self.project_query(query)
        k, v = self.project_key_value(key, value)
        return self.attend(q, k, v, mask)


def count_parameters(module: nn.Module) -> int:
    """Count the numbers that training may change, shared ones only once."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
