"""A model in one file for the book's page: complete, small, and unchanged."""

import json
from dataclasses import asdict

import pytest
import torch
from safetensors import safe_open

from transformer.config import TransformerConfig
from transformer.data import Vocabulary
from transformer.data.special_tokens import SPECIAL_TOKENS
from transformer.model import Transformer
from transformer.training.page_file import save_page_file

SIZES = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8, "max_len": 6}


@pytest.mark.parametrize("tie", ["none", "target", "all"])
def test_the_file_holds_the_model_and_its_words(tmp_path, tie):
    config = TransformerConfig(6, 6, tie=tie, **SIZES)
    model = Transformer(config)
    words = [
        Vocabulary([*SPECIAL_TOKENS, *pair]) for pair in (("a", " "), ("b", "c d"))
    ]
    size = save_page_file(model, (words[0], words[1]), tmp_path / "new" / "page")
    assert size == (tmp_path / "new" / "page").stat().st_size
    with safe_open(tmp_path / "new" / "page", "pt") as file:
        assert set(file.keys()) == set(dict(model.named_parameters()))
        for name, weight in model.named_parameters():
            torch.testing.assert_close(file.get_tensor(name), weight.half())
        facts = {name: json.loads(text) for name, text in file.metadata().items()}
    assert TransformerConfig(**facts["config"]) == config
    assert facts["config"] == asdict(config)
    assert facts["words"] == [list(vocabulary.words) for vocabulary in words]


def test_an_older_file_stays_where_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "page"
    path.write_bytes(b"old")
    model = Transformer(TransformerConfig(4, 4, **SIZES))
    words = Vocabulary([*SPECIAL_TOKENS])

    def refuse(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match="disk full"):
        save_page_file(model, (words, words), path)
    assert [file.name for file in tmp_path.iterdir()] == ["page"]
    assert path.read_bytes() == b"old"
