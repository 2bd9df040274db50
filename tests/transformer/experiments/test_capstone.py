"""The capstone trains on the available data, reports it, and continues after a stop."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from transformer.data import EOS, UNK, Corpus, make_batches
from transformer.experiments import capstone
from transformer.experiments.capstone import (
    Task,
    choose_task,
    draw_sentences,
    grammar_task,
    train_task,
    translate_all,
)
from transformer.model import Transformer
from transformer.multi_head import count_parameters

ROOT = Path(__file__).resolve().parents[3]
FACTS = ROOT / "benchmarks" / "results" / "multi30k_facts.json"


def real_folder() -> Path | None:
    """Return the folder of the real files, or None if it is not on this machine."""
    beside = ROOT.parent / "shared" / "multi30k"
    folder = Path(os.environ.get("MULTI30K_DIR", beside))
    return folder if folder.is_dir() else None


def small(task: Task, epochs: int = 2) -> Task:
    """Return the task with a tiny model and few sentences."""
    whole = task.corpus
    corpus = Corpus(whole.train[:200], whole.valid[:20], whole.test[:20])
    model = replace(task.model, d_model=16, n_heads=8, n_layers=1, d_ff=16)
    training = replace(task.training, epochs=epochs, epoch_steps=2)
    return replace(task, corpus=corpus, model=model, training=training)


def test_without_a_gpu_the_message_says_so() -> None:
    task = choose_task("cpu")
    assert task.name == "grammar"
    assert "there is no GPU" in task.message
    assert task.model.n_heads == 8


def test_without_the_data_the_message_says_what_is_missing(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    task = choose_task("cuda", missing)
    assert task.name == "grammar"
    assert str(missing) in task.message


def test_without_a_network_it_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: None) -> Corpus:
        raise ConnectionError("no answer")

    monkeypatch.setattr(capstone, "load_multi30k", refuse)
    task = choose_task("cuda")
    assert task.name == "grammar"
    assert "no answer" in task.message


def test_the_fallback_has_unknown_words_on_both_sides() -> None:
    task = grammar_task("of a test")
    for side, words in zip(("src", "tgt"), task.vocabularies, strict=True):
        tokens = {word for pair in task.corpus.test for word in getattr(pair, side)}
        assert tokens - set(words.words)
        assert UNK in words.words


def test_training_goes_on_after_a_stop(tmp_path: Path) -> None:
    task = small(grammar_task("of a test"))
    whole = train_task(task, "cpu")
    train_task(
        replace(task, training=replace(task.training, epochs=1)), "cpu", tmp_path
    )
    resumed = train_task(task, "cpu", tmp_path)
    assert len(resumed.history) == 2
    for one, other in zip(
        whole.model.parameters(), resumed.model.parameters(), strict=True
    ):
        assert torch.equal(one, other)


@pytest.mark.parametrize("by_length", [True, False])
def test_batches_are_drawn_as_the_training_says(by_length: bool) -> None:
    task = small(grammar_task("of a test"), epochs=1)
    training = replace(task.training, by_length=by_length, batch_size=32)
    found = train_task(replace(task, training=training), "cpu").data.train
    expected = make_batches(
        task.corpus.train,
        task.vocabularies,
        32,
        seed=training.seed,
        by_length=by_length,
    )
    for one, other in zip(found.epoch(0), expected.epoch(0), strict=True):
        assert torch.equal(one.src, other.src)


def test_translations_come_without_an_end() -> None:
    task = small(grammar_task("of a test"), epochs=1)
    trainer = train_task(task, "cpu")
    written = translate_all(trainer.model, task.corpus.test, task.vocabularies)
    assert len(written) == len(task.corpus.test)
    assert all(EOS not in words for words in written)


def test_draws_are_places_and_the_same_each_time() -> None:
    draws = draw_sentences(7, 30)
    assert draws.shape == (30, 7)
    assert draws.min() == 0
    assert draws.max() == 6
    assert torch.equal(draws, draw_sentences(7, 30))
    assert not torch.equal(draws, draw_sentences(7, 30, seed=1))


def test_the_facts_of_multi30k_agree_with_the_tutorials() -> None:
    facts = json.loads(FACTS.read_text("utf-8"))
    assert facts["pairs"] == {"train": 29_000, "valid": 1_014, "test": 1_000}
    assert facts["vocabulary"] == {"src": 7_853, "tgt": 5_893}
    for split, sizes in facts["group_sizes"].items():
        assert sum(sizes) == facts["pairs"][split]
    for side in ("src", "tgt"):
        known = facts["distinct_train_words"][side] - facts["seen_once"][side]
        assert facts["vocabulary"][side] == known + 4
        unknown = facts["unknown"]["train"][side]["unknown_tokens"]
        assert unknown == facts["seen_once"][side]


@pytest.mark.slow
@pytest.mark.skipif(
    real_folder() is None,
    reason="Multi30k is neither in ../shared/multi30k nor in $MULTI30K_DIR",
)
def test_the_real_task_is_the_tutorials() -> None:
    task = capstone.multi30k_task(capstone.load_multi30k(real_folder()))
    assert count_parameters(Transformer(task.model)) == 9_038_341
    assert task.training.epochs == 10
    facts = json.loads(FACTS.read_text("utf-8"))
    known = set(task.vocabularies[0].words)
    tokens = [word for pair in task.corpus.test for word in pair.src]
    measured = facts["unknown"]["test"]["src"]["unknown_tokens"]
    assert measured == sum(word not in known for word in tokens)
