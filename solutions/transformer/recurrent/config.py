"""The configuration of a recurrent translator: its sizes and its use of attention."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RecurrentConfig:
    """Describe a `BidirectionalTranslator`, by default with sizes for Multi30k.

    Attributes:
        src_vocab_size: words in the source vocabulary.
        tgt_vocab_size: words in the target vocabulary.
        attention: whether the decoder attends to all states of the encoder. Otherwise
            it receives only the last states, at every word.
        d_model: width of the word vectors, and of the layer before the projection.
        d_h: width of a state of the decoder, and of the encoder in each direction.
        dropout: rate for the word vectors, for the memory and before the projection.
        pad_id: the padding token, which the decoder never attends to.

    Raises:
        ValueError: if a value is outside the ranges above.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    attention: bool = True
    d_model: int = 256
    d_h: int = 256
    dropout: float = 0.3
    pad_id: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError for values that cannot make a model."""
        for name in ("src_vocab_size", "tgt_vocab_size", "d_model", "d_h"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1: {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1: {self.dropout}")
        smallest = min(self.src_vocab_size, self.tgt_vocab_size)
        if not 0 <= self.pad_id < smallest:
            raise ValueError(
                f"pad_id must be a word of both vocabularies (0 to {smallest - 1}): "
                f"{self.pad_id}"
            )

    @classmethod
    def best(
        cls, src_vocab_size: int = 7853, tgt_vocab_size: int = 5893, **changes: Any
    ) -> "RecurrentConfig":
        """Return the configuration for Multi30k."""
        return cls(src_vocab_size, tgt_vocab_size, **changes)

    @classmethod
    def tiny(
        cls, src_vocab_size: int, tgt_vocab_size: int, **changes: Any
    ) -> "RecurrentConfig":
        """Return a small model that learns the grammar corpus in about a minute."""
        sizes = {"d_model": 96, "d_h": 96, "dropout": 0.05}
        return cls(src_vocab_size, tgt_vocab_size, **{**sizes, **changes})
