"""The model that comes with the course: `tiny`, trained on the grammar corpus.

Chapters and notebooks that only need a trained model load this one. It is made by
`make model` (see `transformer.export`): weights in half precision beside their
configuration and vocabularies.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save

from transformer.config import TransformerConfig
from transformer.data import Vocabulary
from transformer.seq2seq import Transformer

FOLDER = Path(__file__).parent
WEIGHTS = "tiny.safetensors"
CARD = "tiny.json"


class ShippedModelError(ValueError):
    """The shipped model is missing or is not the one that was made."""


@dataclass(frozen=True)
class ShippedModel:
    """Hold a trained model with what is needed to use it.

    Attributes:
        model: the `Transformer` in evaluation mode, in float32.
        words: source and target vocabulary.
        facts: how it was trained and what it reached, as measured when it was made.
    """

    model: Transformer
    words: tuple[Vocabulary, Vocabulary]
    facts: Mapping[str, Any]


def load_shipped_model(
    device: torch.device | str = "cpu", folder: Path = FOLDER
) -> ShippedModel:
    """Load the model that comes with the course.

    Args:
        device: where to put it.
        folder: holds the weights and their card.

    Raises:
        ShippedModelError: if a file is missing, or the weights are not those that the
            card describes.
    """
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        weights = (folder / WEIGHTS).read_bytes()
    except OSError as error:
        raise ShippedModelError(
            f"the shipped model has no file {error.filename}: fetch the course's "
            "folder again, or make the model with `make model`"
        ) from error
    found = hashlib.sha256(weights).hexdigest()
    if found != card["sha256"]:
        raise ShippedModelError(
            f"{folder / WEIGHTS} is damaged: expected SHA-256 {card['sha256']}, found "
            f"{found}; fetch the course's folder again"
        )
    model = Transformer(TransformerConfig(**card["config"]))
    model.load_state_dict({name: w.float() for name, w in load(weights).items()})
    src_words, tgt_words = (Vocabulary(line.split(" ")) for line in card["words"])
    return ShippedModel(model.to(device).eval(), (src_words, tgt_words), card["facts"])


def save_shipped_model(shipped: ShippedModel, folder: Path = FOLDER) -> int:
    """Write a model's weights in half precision, with their card.

    Args:
        shipped: the model, its vocabularies, and facts that JSON can hold.
        folder: where to; it is made if need be.

    Returns:
        The size of the weights in bytes.
    """
    state = shipped.model.state_dict()
    weights = save({name: w.half().contiguous().clone() for name, w in state.items()})
    card = {
        "sha256": hashlib.sha256(weights).hexdigest(),
        "config": asdict(shipped.model.config),
        "facts": dict(shipped.facts),
        "words": [" ".join(vocabulary.words) for vocabulary in shipped.words],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS).write_bytes(weights)
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")
    return len(weights)
