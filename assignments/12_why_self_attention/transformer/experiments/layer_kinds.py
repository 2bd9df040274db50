"""One layer of each kind in Table 1 of Vaswani et al. (2017).

Every layer maps (b, n, d) to (b, n, d). It does only the operations that the table
counts, so the attention layers have neither projections nor heads. Restricted attention
does slightly more work, because it computes in blocks.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LAYER_KINDS = (
    "self_attention",
    "restricted_attention",
    "recurrent",
    "convolution",
    "dilated_convolution",
    "separable_convolution",
)
SMALLEST_BLOCK = 16  # smaller matrix products are not faster


def require_kind(kind: str) -> None:
    """Raise ValueError for a kind of layer that is not in Table 1."""
    if kind not in LAYER_KINDS:
        raise ValueError(f"expected one of {', '.join(LAYER_KINDS)}: found {kind!r}")


def require_odd(width: int) -> None:
    """Raise ValueError if a neighbourhood of this width has no central position."""
    if width < 1 or width % 2 == 0:
        raise ValueError(
            "expected an odd number of neighbours, the position itself and as many "
            f"before it as after it, found {width}"
        )


def require_positive(**sizes: int) -> None:
    """Raise ValueError for a size below 1."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"expected {name} of at least 1, found {size}")


def require_path(kind: str, length: int, width: int) -> None:
    """Raise ValueError if such a layer cannot connect two positions of the sequence."""
    require_kind(kind)
    if length < 2:
        raise ValueError(f"expected two positions or more, found length {length}")
    if kind == "restricted_attention":
        require_odd(width)
    least = 3 if kind == "restricted_attention" else 2
    if kind not in ("self_attention", "recurrent") and width < least:
        raise ValueError(
            f"expected width of at least {least} for {kind}, found {width}: a position "
            "that sees itself alone is connected with no other"
        )


def restricted_attention(query: Tensor, key: Tensor, value: Tensor, r: int) -> Tensor:
    """Attend only to the r positions around each query, with work linear in n.

    The neighbourhood of position i contains the positions j with |i - j| <= (r - 1) /
    2. The function splits the queries into blocks. Each block sees its own keys and
    their neighbours: 1.5 r keys, or r + 15 keys if r is below 33.

    Args:
        query: (..., n, d_k).
        key: (..., n, d_k).
        value: (..., n, d_v).
        r: number of positions, including the query's own; odd. There are fewer at the
            ends of the sequence.

    Returns:
        (..., n, d_v), the same as full attention with `restricted_mask`.

    Raises:
        ValueError: if `r` is not odd and positive.
    """
    require_odd(r)
    length, side = query.size(-2), (r - 1) // 2
    block = max(side, SMALLEST_BLOCK)
    spare = -length % block  # padding of the last block
    queries = F.pad(query, (0, 0, 0, spare)).unflatten(-2, (-1, block))
    keys, values = (
        F.pad(x, (0, 0, side, side + spare)).unfold(-2, block + 2 * side, block)
        for x in (key, value)
    )  # (..., blocks, d, block + 2 * side)
    scores = queries @ keys / math.sqrt(query.size(-1))
    near = _near(length, block, side).to(query.device)
    weights = scores.masked_fill(~near, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return (weights @ values.transpose(-2, -1)).flatten(-3, -2)[..., :length, :]


def _near(length: int, block: int, side: int) -> Tensor:
    """Return the mask (blocks, block, block + 2 * side) of the keys queries see."""
    starts = torch.arange(0, length, block)[:, None, None]
    query = starts + torch.arange(block)[:, None]
    key = starts + torch.arange(block + 2 * side) - side
    return ((query - key).abs() <= side) & (key >= 0) & (key < length)


class SelfAttention(nn.Module):
    """Self-attention, in which every position attends to all positions."""

    def forward(self, x: Tensor) -> Tensor:
        """Attend with x as query, key and value."""
        x = x.unsqueeze(1)  # one head
        return F.scaled_dot_product_attention(x, x, x).squeeze(1)


class RestrictedAttention(nn.Module):
    """Self-attention, in which every position attends only to its neighbours."""

    def __init__(self, r: int) -> None:
        """Store the number of neighbours, which must be odd."""
        super().__init__()
        require_odd(r)
        self.r = r

    def forward(self, x: Tensor) -> Tensor:
        """Attend with x as query, key and value."""
        return restricted_attention(x, x, x, self.r)


class Recurrent(nn.Module):
    """A recurrent layer, from left to right: h_i = tanh(W x_i + U h_(i-1))."""

    def __init__(self, d_model: int) -> None:
        """Make the matrices W and U."""
        super().__init__()
        self.rnn = nn.RNN(d_model, d_model, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Return the state at each position."""
        return self.rnn(x)[0]


class Convolution(nn.Module):
    """A convolution, in which every position sees itself and earlier ones (ByteNet).

    Args:
        d_model: width of the layer.
        width: kernel size k.
        dilation: distance between the positions that the kernel sees.
        separable: whether to convolve each channel separately, then mix the channels.
    """

    def __init__(
        self, d_model: int, width: int, dilation: int = 1, separable: bool = False
    ) -> None:
        """Make the kernels and the padding on the left."""
        super().__init__()
        if width < 1:
            raise ValueError(f"expected a kernel of size 1 or more, found {width}")
        self.padding = (width - 1) * dilation
        groups = d_model if separable else 1
        self.kernel = nn.Conv1d(
            d_model, d_model, width, dilation=dilation, groups=groups
        )
        self.mix = nn.Conv1d(d_model, d_model, 1) if separable else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Convolve along the positions."""
        padded = F.pad(x.transpose(1, 2), (self.padding, 0))  # (b, d, k - 1 + n)
        return self.mix(self.kernel(padded)).transpose(1, 2)


def make_layer(kind: str, d_model: int, width: int) -> nn.Module:
    """Make a layer that maps (b, n, d) to (b, n, d).

    Args:
        kind: one of `LAYER_KINDS`.
        d_model: width d of the layer.
        width: kernel size k, or neighbourhood r; not used by the other kinds.

    Raises:
        ValueError: if the kind is unknown, or `width` is not valid for it.
    """
    require_kind(kind)
    makers: dict[str, Callable[[], nn.Module]] = {
        "self_attention": SelfAttention,
        "restricted_attention": lambda: RestrictedAttention(width),
        "recurrent": lambda: Recurrent(d_model),
        "convolution": lambda: Convolution(d_model, width),
        "dilated_convolution": lambda: Convolution(d_model, width, dilation=width),
        "separable_convolution": lambda: Convolution(d_model, width, separable=True),
    }
    return makers[kind]()
