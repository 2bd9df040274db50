"""Cache the keys and values of written tokens, so that each is computed only once."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.decoder import DecoderLayer, layers_of
from transformer.masks import padding_mask
from transformer.model import Transformer


@dataclass
class LayerCache:
    """Hold the keys and values of one decoder layer.

    Attributes:
        memory_key: cross-attention's keys of the source, (b, h, s, d_k).
        memory_value: cross-attention's values of the source, (b, h, s, d_k).
        key: self-attention's keys of the tokens so far, (b, h, t, d_k).
        value: self-attention's values of the tokens so far, (b, h, t, d_k).
    """

    memory_key: Tensor
    memory_value: Tensor
    key: Tensor
    value: Tensor

    @classmethod
    def of_memory(cls, layer: DecoderLayer, memory: Tensor) -> "LayerCache":
        """Make a cache, and project the memory (b, s, d_model) once for all steps."""
        key, value = layer.cross_attention.project_key_value(memory, memory)
        return cls(key, value, key[:, :, :0], value[:, :, :0])

    def append(self, key: Tensor, value: Tensor) -> None:
        """Add the newest token's key and value, each (b, h, 1, d_k)."""
        self.key = torch.cat([self.key, key], dim=2)
        self.value = torch.cat([self.value, value], dim=2)

    def __getitem__(self, rows: Tensor) -> "LayerCache":
        """Return a cache with these rows of the batch, in this order."""
        return LayerCache(
            self.memory_key[rows],
            self.memory_value[rows],
            self.key[rows],
            self.value[rows],
        )


@dataclass
class DecoderCache:
    """Hold the caches of all decoder layers; `encode` returns it instead of a memory.

    Attributes:
        layers: one cache for each decoder layer.
    """

    layers: list[LayerCache]

    @property
    def length(self) -> int:
        """Return the number of target tokens in the cache."""
        return self.layers[0].key.size(2)

    def __getitem__(self, rows: Tensor) -> "DecoderCache":
        """Return a cache with these rows of the batch, in this order."""
        return DecoderCache([layer[rows] for layer in self.layers])


LayerStep = Callable[
    [DecoderLayer, Tensor, LayerCache, Tensor, Tensor], tuple[Tensor, Tensor]
]


class CachedTransformer(nn.Module):
    """A Transformer that decodes one token at a time and caches the earlier ones.

    Use it like the model itself: call `encode`, and then call `decode` repeatedly, with
    one more token each time. The result of `encode` can be indexed by rows, like a
    memory.

    Args:
        model: the Transformer; its weights are shared, not copied.
        layer_step: passes the newest token through one decoder layer, as
            `transformer.translation.inference.decode_step_cached` does.
    """

    def __init__(self, model: Transformer, layer_step: LayerStep) -> None:
        """Store the model, and use its configuration and mode."""
        super().__init__()
        self.model = model
        self.config = model.config
        self.layer_step = layer_step
        self.train(model.training)

    def encode(self, src: Tensor) -> DecoderCache:
        """Encode the source (b, s) into a cache without target tokens."""
        memory = self.model.encode(src)
        layers = layers_of(self.model.decoder)
        return DecoderCache([LayerCache.of_memory(layer, memory) for layer in layers])

    def decode(
        self, tgt: Tensor, memory: DecoderCache, src: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """Compute logits of the next word, and add the last token to the cache.

        Args:
            tgt: (b, t) ids, from <sos>; the cache contains all except the last.
            memory: from `encode`; it grows by one token.
            src: (b, s) ids, which show where the source has padding.

        Returns:
            Logits (b, 1, tgt_vocab_size), and each layer's cross-attention weights (b,
                h, 1, s).

        Raises:
            ValueError: if `tgt` is not one token longer than the cache.
        """
        if tgt.size(1) != memory.length + 1:
            raise ValueError(
                f"the cache holds {memory.length} tokens, so it takes a sentence of "
                f"{memory.length + 1}: found {tgt.size(1)}"
            )
        tgt_mask = padding_mask(tgt, self.config.pad_id)
        src_mask = padding_mask(src, self.config.pad_id)
        x = self.model.tgt_embedding(tgt[:, -1:], start=memory.length)
        cross_attention = []
        for layer, cache in zip(
            layers_of(self.model.decoder), memory.layers, strict=True
        ):
            x, weights = self.layer_step(layer, x, cache, tgt_mask, src_mask)
            cross_attention.append(weights)
        return self.model.projection(self.model.decoder.norm(x)), cross_attention
