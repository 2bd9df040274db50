"""The configuration of a Transformer: its sizes and its variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Positions = Literal["learned", "sinusoidal", "none"]
FeedForward = Literal["linear", "conv"]
Tie = Literal["none", "target", "all"]


@dataclass(frozen=True)
class TransformerConfig:
    """Describe a Transformer, by default with the tutorial's sizes.

    Attributes:
        src_vocab_size: words in the source vocabulary.
        tgt_vocab_size: words in the target vocabulary.
        d_model: width of every token's vector, a multiple of `n_heads`.
        n_heads: attention heads, each of width d_k = d_model / n_heads.
        n_layers: layers of the encoder, and of the decoder.
        d_ff: inner width of the feed-forward layer.
        dropout: rate for the sum of the embeddings and for every sub-layer's output.
        max_len: length of the longest sequence that has positions, in tokens.
        positions: "learned", "sinusoidal" or "none".
        feed_forward: "linear", or "conv" for two convolutions of width 1.
        norm_first: True normalises before each sub-layer, False after it (as in the
            paper).
        tie: which weights are shared: "none", "target" (target embedding and output
            projection) or "all" (source embedding too, as in the paper).
        pad_id: the padding token, which no query attends to.
        attention_dropout: rate for the attention weights; None means `dropout`.
        ff_dropout: rate inside the feed-forward layer; None means `dropout`.

    Raises:
        ValueError: if a value is outside the ranges above.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 256
    n_heads: int = 8
    n_layers: int = 3
    d_ff: int = 512
    dropout: float = 0.1
    max_len: int = 100
    positions: Positions = "learned"
    feed_forward: FeedForward = "linear"
    norm_first: bool = False
    tie: Tie = "none"
    pad_id: int = 1
    attention_dropout: float | None = None
    ff_dropout: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for values that cannot make a model."""
        for name in ("src_vocab_size", "tgt_vocab_size", "d_model", "n_heads"):
            self._require_at_least(name, 1)
        for name in ("n_layers", "d_ff", "max_len"):
            self._require_at_least(name, 1)
        for name in ("dropout", "attention_dropout", "ff_dropout"):
            self._require_probability(name)
        self._require_one_of("positions", get_args(Positions))
        self._require_one_of("feed_forward", get_args(FeedForward))
        self._require_one_of("tie", get_args(Tie))
        self._require_matching_sizes()

    @property
    def d_k(self) -> int:
        """Return the width of one head's queries, keys and values."""
        return self.d_model // self.n_heads

    @property
    def weight_dropout(self) -> float:
        """Return the dropout rate of the attention weights."""
        return (
            self.dropout if self.attention_dropout is None else self.attention_dropout
        )

    @property
    def inner_dropout(self) -> float:
        """Return the dropout rate between the feed-forward part's two layers."""
        return self.dropout if self.ff_dropout is None else self.ff_dropout

    @classmethod
    def tutorial(
        cls, src_vocab_size: int = 7853, tgt_vocab_size: int = 5893, **changes: Any
    ) -> TransformerConfig:
        """Return the tutorial's model for Multi30k: 9,038,341 parameters."""
        return cls(src_vocab_size, tgt_vocab_size, **changes)

    @classmethod
    def best(
        cls, src_vocab_size: int = 7853, tgt_vocab_size: int = 5893, **changes: Any
    ) -> TransformerConfig:
        """Return our best model for Multi30k: the tutorial's sizes and more dropout."""
        variant = {"n_heads": 4, "positions": "sinusoidal", "tie": "target"}
        dropout = {"dropout": 0.3, "attention_dropout": 0.0, "ff_dropout": 0.1}
        return cls(src_vocab_size, tgt_vocab_size, **{**variant, **dropout, **changes})

    @classmethod
    def tiny(
        cls, src_vocab_size: int, tgt_vocab_size: int, **changes: Any
    ) -> TransformerConfig:
        """Return a small model that learns the grammar corpus in about a minute."""
        sizes = {"d_model": 128, "n_heads": 4, "n_layers": 2, "d_ff": 256}
        variant = {"max_len": 64, "positions": "sinusoidal", "tie": "target"}
        settings = {**sizes, **variant, "dropout": 0.05, **changes}
        return cls(src_vocab_size, tgt_vocab_size, **settings)

    @classmethod
    def base(
        cls, src_vocab_size: int = 37_000, tgt_vocab_size: int = 37_000, **changes: Any
    ) -> TransformerConfig:
        """Return the paper's base model (Table 3), with subwords that both sides share.

        As in Section 5.4, dropout is applied to the sub-layers' outputs and to the sums
        of embeddings and positions. The paper does not state the number of positions,
        so we use 256.
        """
        sizes = {"d_model": 512, "n_heads": 8, "n_layers": 6, "d_ff": 2048}
        variant = {"max_len": 256, "positions": "sinusoidal", "tie": "all"}
        dropout = {"dropout": 0.1, "attention_dropout": 0.0, "ff_dropout": 0.0}
        settings = {**sizes, **variant, **dropout, **changes}
        return cls(src_vocab_size, tgt_vocab_size, **settings)

    def _require_at_least(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or value < least:
            raise ValueError(
                f"{name} must be an integer of at least {least}: {value!r}"
            )

    def _require_probability(self, name: str) -> None:
        value = getattr(self, name)
        if value is not None and not 0 <= value < 1:
            raise ValueError(f"{name} must be at least 0 and below 1: {value!r}")

    def _require_one_of(self, name: str, allowed: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}: {value!r}")

    def _require_matching_sizes(self) -> None:
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads: {self.d_model} is not a "
                f"multiple of {self.n_heads}"
            )
        if self.positions == "sinusoidal":
            require_even(self.d_model)
        if self.tie == "all" and self.src_vocab_size != self.tgt_vocab_size:
            raise ValueError(
                "tie='all' needs one vocabulary for both sides: found "
                f"{self.src_vocab_size} and {self.tgt_vocab_size} words"
            )
        smallest = min(self.src_vocab_size, self.tgt_vocab_size)
        if not 0 <= self.pad_id < smallest:
            raise ValueError(
                f"pad_id must be a word of both vocabularies (0 to {smallest - 1}): "
                f"{self.pad_id}"
            )


def require_even(d_model: int) -> None:
    """Raise ValueError if the width is odd, because sines and cosines come in pairs."""
    if d_model % 2:
        raise ValueError(f"sinusoidal positions need an even d_model: found {d_model}")


def require_length(length: int, max_len: int) -> None:
    """Raise ValueError if a sequence is longer than the table of positions."""
    if length > max_len:
        raise ValueError(
            f"the sequence has {length} tokens, but there are positions for {max_len}: "
            "shorten it, or build the model with a larger max_len"
        )
