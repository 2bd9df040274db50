"""The models that can be trained, and functions that make them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.recurrent.bidirectional import BidirectionalTranslator
from transformer.recurrent.config import RecurrentConfig

Model = Transformer | BidirectionalTranslator
Config = TransformerConfig | RecurrentConfig


class ModelName(StrEnum):
    """The available models: two recurrent models and the Transformer."""

    seq2seq = "seq2seq"
    attention = "attention"
    transformer = "transformer"

    @property
    def is_recurrent(self) -> bool:
        """Return whether the model uses recurrent networks."""
        return self is not ModelName.transformer


def make_model(config: Config) -> Model:
    """Make the model that a configuration describes."""
    if isinstance(config, TransformerConfig):
        return Transformer(config)
    return BidirectionalTranslator(config)


def restore_config(name: ModelName, fields: Mapping[str, Any]) -> Config:
    """Make a configuration from the fields stored in a checkpoint."""
    if name.is_recurrent:
        return RecurrentConfig(**fields)
    return TransformerConfig(**fields)


def name_of(config: Config) -> ModelName:
    """Return the name of the model that a configuration describes."""
    if isinstance(config, TransformerConfig):
        return ModelName.transformer
    return ModelName.attention if config.attention else ModelName.seq2seq
