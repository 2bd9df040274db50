"""Layers without residual connections, normalisations or feed-forward parts."""

from collections.abc import Callable
from typing import TypeVar

from torch import Tensor, nn

from transformer.feed_forward import AddNorm

Stack = TypeVar("Stack", bound=nn.Module)


class PartOfAddNorm(nn.Module):
    """An `AddNorm` that lacks its residual connection, its normalisation or both.

    Args:
        whole: the `AddNorm` to replace.
        residual: whether to keep the residual connection.
        norm: whether to keep the normalisation.
    """

    def __init__(self, whole: AddNorm, residual: bool, norm: bool) -> None:
        """Keep the requested parts of the `AddNorm`."""
        super().__init__()
        self.norm = whole.norm if norm else nn.Identity()
        self.dropout = whole.dropout
        self.norm_first = whole.norm_first
        self.residual = residual

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply `sublayer` to x (b, t, d_model), with only the kept parts."""
        carried = x if self.residual else 0.0
        if self.norm_first:
            return carried + self.dropout(sublayer(self.norm(x)))
        return self.norm(carried + self.dropout(sublayer(x)))


def leave_out(stack: Stack, residual: bool = False, norm: bool = False) -> Stack:
    """Remove residual connections, normalisations or both from every layer.

    Args:
        stack: an encoder or a decoder, which is changed in place.
        residual: whether to remove the residual connections.
        norm: whether to remove the normalisations.

    Returns:
        The same stack.
    """
    for module in list(stack.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, AddNorm):
                part = PartOfAddNorm(child, residual=not residual, norm=not norm)
                setattr(module, name, part)
    return stack


class NoSublayer(nn.Module):
    """Replace an `AddNorm` by the identity, so that its sub-layer is never called."""

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return x (b, t, d_model) unchanged."""
        return x


def leave_out_feed_forward(stack: Stack) -> Stack:
    """Remove the feed-forward part and its `AddNorm` from every layer.

    Args:
        stack: an encoder, a decoder or a whole model, which is changed in place.

    Returns:
        The same stack.
    """
    for layer in list(stack.modules()):
        children = dict(layer.named_children())
        if "feed_forward" in children:
            around = [n for n, part in children.items() if isinstance(part, AddNorm)]
            setattr(layer, max(around), NoSublayer())
            layer.feed_forward = nn.Identity()
    return stack
