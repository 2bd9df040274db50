"""Export a trained model as one file for the book's live translator."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import cast

from torch import nn

from transformer.config import TransformerConfig
from transformer.data import Vocabularies
from transformer.data.weights_file import pack_weights
from transformer.data.whole_file import whole_file


def page_file(model: nn.Module, words: Vocabularies) -> bytes:
    """Pack a model with the data that the book's page needs to translate.

    Args:
        model: a `Transformer`. Its parameters are written in half precision, and shared
            parameters only once.
        words: source and target vocabulary.

    Returns:
        The bytes of a safetensors file; its metadata contain `config` and `words` as
            JSON.
    """
    facts = {
        "config": asdict(cast(TransformerConfig, model.config)),
        "words": [list(vocabulary.words) for vocabulary in words],
    }
    texts = {name: json.dumps(fact) for name, fact in facts.items()}
    return pack_weights(dict(model.named_parameters()), texts)


def save_page_file(model: nn.Module, words: Vocabularies, path: Path) -> int:
    """Write the file of `page_file`, never an incomplete one; return its size in bytes.

    Raises:
        OSError: if it cannot be written.
    """
    content = page_file(model, words)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)
    return len(content)
