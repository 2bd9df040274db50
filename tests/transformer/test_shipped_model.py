"""The model that comes with the course is small, complete and as good as documented."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data import RUNNING_EXAMPLE, Vocabulary, make_grammar_corpus
from transformer.model import Transformer
from transformer.shipped_model import (
    ShippedModel,
    ShippedModelError,
    load_shipped_model,
    save_shipped_model,
)
from transformer.shipped_model.weights import FOLDER, PARTS
from transformer.training.presets import CorpusName, number_words
from transformer.translation.beams import SearchSettings
from transformer.translation.cache import CachedTransformer
from transformer.translation.evaluation import detokenised_bleu, translate_pairs
from transformer.translation.inference import decode_step_cached, translate


@pytest.fixture(scope="module")
def shipped() -> ShippedModel:
    return load_shipped_model()


def test_it_is_small_and_no_file_of_it_is_large() -> None:
    sizes = [file.stat().st_size for file in FOLDER.glob("tiny*")]
    assert len(sizes) == 1 + len(PARTS)
    assert sum(sizes) < 3_000_000
    assert max(sizes) < 1_000_000


@pytest.mark.parametrize("tie", ["none", "target"])
def test_the_parts_hold_every_parameter_once(tie: str) -> None:
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8, "tie": tie}
    model = Transformer(TransformerConfig(5, 6, **sizes))
    children = [name for prefixes in PARTS.values() for name in prefixes]
    assert sorted(children) == sorted(name for name, _ in model.named_children())
    assert set(model.state_dict()) - dict(model.named_parameters()).keys() <= {
        "projection.weight"
    }


def test_its_words_are_the_corpus_s(shipped: ShippedModel) -> None:
    assert shipped.words == number_words(CorpusName.grammar, make_grammar_corpus())


def test_it_translates_the_book_s_sentence(shipped: ShippedModel) -> None:
    found = translate(shipped.model, " ".join(RUNNING_EXAMPLE.src), shipped.words)
    assert list(found.target)[:-1] == list(RUNNING_EXAMPLE.tgt)


@pytest.mark.integration
def test_it_is_as_good_as_its_card_says(shipped: ShippedModel) -> None:
    pairs = make_grammar_corpus().test
    model = CachedTransformer(shipped.model, decode_step_cached)
    found = translate_pairs(model, pairs, shipped.words, SearchSettings(1))
    score = detokenised_bleu(found, [pair.tgt for pair in pairs]).score
    assert score == pytest.approx(shipped.facts["test_bleu"], abs=0.2)
    assert score > 95


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8, "tie": "target"}
    model = Transformer(TransformerConfig(5, 6, **sizes)).half().float()
    words = Vocabulary(["<unk>", "<pad>", "<sos>", "<eos>", "ä"])
    tgt_words = Vocabulary([*words.words, "b"])
    save_shipped_model(ShippedModel(model, (words, tgt_words), {"a": 1}), tmp_path)
    again = load_shipped_model(folder=tmp_path)
    assert again.words == (words, tgt_words)
    assert again.facts == {"a": 1}
    assert again.model.config == model.config
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(again.model.state_dict()[name], weight)


@pytest.mark.parametrize("name", PARTS)
def test_damaged_weights_are_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    weights = bytearray((tmp_path / name).read_bytes())
    weights[-1] ^= 1
    (tmp_path / name).write_bytes(weights)
    with pytest.raises(ShippedModelError, match="damaged: expected SHA-256"):
        load_shipped_model(folder=tmp_path)


@pytest.mark.parametrize("name", [*PARTS, "tiny.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / name).unlink()
    with pytest.raises(ShippedModelError, match=name):
        load_shipped_model(folder=tmp_path)


def test_its_card_can_be_read_by_a_person() -> None:
    card = json.loads((FOLDER / "tiny.json").read_text(encoding="utf-8"))
    assert card["facts"]["corpus"] == "grammar"
    assert "sacreBLEU" in card["facts"]["convention"]
