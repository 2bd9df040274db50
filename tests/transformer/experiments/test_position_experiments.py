"""Positions: sentence or shuffle, and the figures that chapter 03 states."""

import pytest
import torch
from torch import nn

from transformer.data import make_grammar_corpus
from transformer.data.word_counts import build_vocabulary
from transformer.embeddings import TokenEmbedding
from transformer.experiments.fitting import FitSettings
from transformer.experiments.reversal_by_position import (
    ReversalTask,
    make_reverser,
    reversal_accuracy,
    train_reverser,
)
from transformer.experiments.word_order import (
    OrderClassifier,
    make_order_task,
    order_accuracy,
    train_order,
)
from transformer.positional import (
    LearnedPositionalEncoding,
    SinusoidalPositionalEncoding,
)

KINDS = {
    "none": nn.Identity,
    "sinusoidal": lambda: SinusoidalPositionalEncoding(32, 20),
    "learned": lambda: LearnedPositionalEncoding(32, 20),
}


def test_a_shuffle_has_the_same_words():
    numbers = {"die": 4, "frau": 5, "ruft": 6, ".": 7}
    sentences = [["die", "frau", "ruft", "die", "frau", "."], ["frau", "heute", "."]]
    task = make_order_task(sentences, numbers)
    assert task.ids[0].tolist() == [4, 5, 6, 4, 5]
    assert task.ids[2].tolist() == [5, 0, 1, 1, 1]
    assert torch.equal(task.ids[1].sort().values, task.ids[0].sort().values)
    assert task.is_sentence.tolist() == [1, 0, 1, 0]
    again = make_order_task(sentences, numbers)
    assert torch.equal(task.ids, again.ids)


def test_padding_does_not_count():
    torch.manual_seed(0)
    model = OrderClassifier(TokenEmbedding(9, 32), KINDS["learned"](), 32)
    padded, bare = torch.tensor([[4, 5, 1, 1]]), torch.tensor([[4, 5]])
    torch.testing.assert_close(model(padded), model(bare))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_only_positions_tell_a_sentence_from_its_shuffle(kind):
    torch.set_num_threads(1)
    corpus = make_grammar_corpus()
    train, test = ([pair.src for pair in part] for part in (corpus.train, corpus.test))
    itos, stoi = build_vocabulary(train)
    torch.manual_seed(0)
    model = OrderClassifier(TokenEmbedding(len(itos), 32), KINDS[kind](), 32)
    settings = FitSettings(steps=400, batch_size=128, learning_rate=1e-2)
    train_order(model, make_order_task(train, stoi), settings)
    accuracy = order_accuracy(model, make_order_task(test, stoi, seed=1))
    if kind == "none":
        assert accuracy == pytest.approx(0.5, abs=0.005)
    else:
        assert accuracy > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_reversal_needs_positions_and_does_not_extrapolate(kind):
    torch.set_num_threads(1)
    task = ReversalTask(length=8)
    model = make_reverser(kind, task)
    train_reverser(model, task, FitSettings(steps=180, learning_rate=5e-3))
    known, longer = (reversal_accuracy(model, n, task.n_symbols) for n in (8, 9))
    assert longer.sequences < 0.02
    if kind == "none":
        assert known.sequences < 0.02
        assert 1 / 8 < known.tokens < 1 / 4
    else:
        assert known.sequences > 0.9


@pytest.mark.slow
def test_sines_lose_less_than_learned_positions_one_step_beyond():
    torch.set_num_threads(1)
    task = ReversalTask(length=8, min_length=3)
    tokens = {}
    for kind in ("sinusoidal", "learned"):
        model = make_reverser(kind, task)
        train_reverser(model, task, FitSettings(steps=400, learning_rate=5e-3))
        found = [reversal_accuracy(model, n, task.n_symbols) for n in (8, 9, 10)]
        assert found[0].sequences > 0.9
        assert found[1].sequences < 0.4
        assert found[2].sequences < 0.05
        tokens[kind] = found[1].tokens
    assert tokens["sinusoidal"] > 1.5 * tokens["learned"]
