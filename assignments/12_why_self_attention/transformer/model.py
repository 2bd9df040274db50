"""The complete Transformer, from words to the logits of every next word."""

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.decoder import Decoder
from transformer.embeddings import tie_weights
from transformer.encoder import Encoder
from transformer.masks import padding_mask, target_mask
from transformer.parts import InputEmbedding

M = TypeVar("M", bound=nn.Module)
P = ParamSpec("P")
R = TypeVar("R")


class Transformer(nn.Module):
    """An encoder that reads the source, and a decoder that writes the target.

    Args:
        config: sizes and variants.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make every part, with the initialisation of Glorot & Bengio (2010)."""
        super().__init__()
        self.config = config
        self.src_embedding = InputEmbedding(config.src_vocab_size, config)
        self.tgt_embedding = InputEmbedding(config.tgt_vocab_size, config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.projection = nn.Linear(config.d_model, config.tgt_vocab_size)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        if config.tie in ("target", "all"):
            tie_weights(self.tgt_embedding.tokens, self.projection)
        if config.tie == "all":
            self.src_embedding.tokens.table.weight = self.projection.weight

    def encode(self, src: Tensor) -> Tensor:
        """Read the source.

        Args:
            src: (b, s) word numbers.

        Returns:
            The memory (b, s, d_model).

        Raises:
            ValueError: if `src` is not a batch of sentences of this vocabulary.
        """
        x = self.src_embedding(src)  # first, because it refuses invalid input
        return self.encoder(x, padding_mask(src, self.config.pad_id))

    def decode(
        self, tgt: Tensor, memory: Tensor, src: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """Score every next word, given the words before it and the memory.

        Args:
            tgt: (b, t) word numbers, from <sos>.
            memory: (b, s, d_model), from `encode`.
            src: (b, s) word numbers, which show where the memory has padding.

        Returns:
            Logits (b, t, tgt_vocab_size), and each layer's cross-attention weights
            (b, h, t, s).

        Raises:
            ValueError: if `tgt` is not a batch of sentences of this vocabulary.
        """
        pad_id = self.config.pad_id
        x = self.tgt_embedding(tgt)
        x, cross_attention = self.decoder(
            x,
            memory,
            target_mask(tgt, pad_id),
            padding_mask(src, pad_id),
        )
        return self.projection(x), cross_attention

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Score every next word of the target.

        Args:
            src: (b, s) word numbers.
            tgt: (b, t) word numbers, from <sos>, without the last token.

        Returns:
            Logits (b, t, tgt_vocab_size). The logits at [:, i] score the word after
            tgt[:, i].

        Raises:
            ValueError: if `src` or `tgt` is no batch of sentences of this vocabulary.
        """
        logits, _ = self.decode(tgt, self.encode(src), src)
        return logits


def evaluating(
    function: Callable[Concatenate[M, P], R],
) -> Callable[Concatenate[M, P], R]:
    """Run a function on a model in eval mode without gradients and restore its mode."""

    @functools.wraps(function)
    def run(model: M, *args: P.args, **kwargs: P.kwargs) -> R:
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return function(model, *args, **kwargs)
        finally:
            model.train(was_training)

    return run
