"""The model that comes with the course: `tiny`, trained on the grammar corpus.

Chapters and notebooks that only need a trained model load this one. `make model` writes
it (see `make`). The weights are in half precision, in one file for the encoder and one
for the decoder, and each weight is stored once. Another file contains the configuration
and the vocabularies.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.data import Vocabularies, Vocabulary
from transformer.data.weights_file import pack_weights, unpack_weights
from transformer.model import Transformer

FOLDER = Path(__file__).parent
CARD = "tiny.json"
PARTS = {
    "tiny-encoder.safetensors": ("src_embedding", "encoder"),
    "tiny-decoder.safetensors": ("tgt_embedding", "decoder", "projection"),
}


class ShippedModelError(ValueError):
    """Report that the shipped model is missing or has been changed."""


@dataclass(frozen=True)
class ShippedModel:
    """Hold a trained model with its vocabularies and facts about it.

    Attributes:
        model: the `Transformer` in evaluation mode, in float32.
        words: source and target vocabulary.
        facts: how it was trained, and its scores when it was made.
    """

    model: Transformer
    words: Vocabularies
    facts: Mapping[str, Any]


def load_shipped_model(
    device: torch.device | str = "cpu", folder: Path = FOLDER
) -> ShippedModel:
    """Load the model that comes with the course.

    Args:
        device: device of the model.
        folder: folder with the weights and their description, the card.

    Raises:
        ShippedModelError: if a file is missing, or the weights do not match the card.
    """
    card = json.loads(_read(folder / CARD))
    model = Transformer(TransformerConfig(**card["config"]))
    for name, prefixes in PARTS.items():
        content = _read(folder / name)
        _require_hash(folder / name, content, card["sha256"][name])
        saved = unpack_weights(content)
        for key, weight in _weights(model, prefixes).items():
            weight.copy_(saved[key])
    src_words, tgt_words = (Vocabulary(line.split(" ")) for line in card["words"])
    return ShippedModel(model.to(device).eval(), (src_words, tgt_words), card["facts"])


def save_shipped_model(shipped: ShippedModel, folder: Path = FOLDER) -> int:
    """Write a model's weights in half precision, and their description, the card.

    Args:
        shipped: the model, its vocabularies, and facts that can be stored as JSON.
        folder: folder for the files, which is made if necessary.

    Returns:
        The size of the weights in bytes.
    """
    parts = {}
    for name, prefixes in PARTS.items():
        parts[name] = pack_weights(_weights(shipped.model, prefixes))
    card = {
        "sha256": {name: _hash(content) for name, content in parts.items()},
        "config": asdict(shipped.model.config),
        "facts": dict(shipped.facts),
        "words": [" ".join(vocabulary.words) for vocabulary in shipped.words],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in parts.items():
        (folder / name).write_bytes(content)
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")
    return sum(map(len, parts.values()))


def _weights(model: Transformer, prefixes: Sequence[str]) -> dict[str, Tensor]:
    """Return the parameters of some of a model's parts; shared ones occur only once."""
    return {
        name: parameter.detach()
        for name, parameter in model.named_parameters()
        if name.partition(".")[0] in prefixes
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ShippedModelError(
            f"the shipped model has no file {path}: fetch the course's folder again, "
            "or make the model with `make model`"
        ) from error


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _require_hash(path: Path, content: bytes, expected: str) -> None:
    if (found := _hash(content)) != expected:
        raise ShippedModelError(
            f"{path} is damaged: expected SHA-256 {expected}, found {found}; fetch the "
            "course's folder again"
        )
