"""Words learn their vectors: windows, training, and what chapter 02 says of them."""

import pytest
import torch
from torch import nn

from transformer.analysis.embeddings import lookup_gradient
from transformer.data import make_grammar_corpus
from transformer.data.word_counts import build_vocabulary
from transformer.embeddings import TokenEmbedding, tie_weights
from transformer.experiments.fitting import FitSettings
from transformer.experiments.word_vectors import (
    NeighbourModel,
    make_windows,
    nearest_words,
    train_word_vectors,
)

NUMBERS = {"<pad>": 1, "die": 4, "frau": 5, "ruft": 6}


def test_windows_by_hand():
    windows = make_windows([["die", "frau", "ruft"]], NUMBERS, reach=2)
    assert windows.words.tolist() == [4, 5, 6]
    want = [[1, 1, 5, 6], [1, 4, 6, 1], [4, 5, 1, 1]]
    assert windows.neighbours.tolist() == want
    assert len(windows) == 3


def test_a_word_without_neighbours_is_refused():
    with pytest.raises(ValueError, match=r"two words at least, found \['die'\]"):
        make_windows([["die"]], NUMBERS)


def test_padding_does_not_count_as_a_neighbour():
    torch.manual_seed(0)
    model = NeighbourModel(TokenEmbedding(7, 4), nn.Linear(4, 7))
    padded, bare = torch.tensor([[1, 4, 6, 1]]), torch.tensor([[4, 6]])
    torch.testing.assert_close(model(padded), model(bare))


def test_nearest_words_by_hand():
    table = torch.tensor([[1.0, 0.0], [5.0, 5.0], [0.0, 2.0], [-1.0, 0.0]])
    near = nearest_words(table, 0, 3)
    assert [number for number, _ in near] == [1, 2, 3]
    assert [round(cosine, 3) for _, cosine in near] == [0.707, 0.0, -1.0]


def test_the_gradient_of_a_lookup_is_autograds():
    torch.manual_seed(0)
    table = torch.randn(9, 4, requires_grad=True)
    ids, upstream = torch.randint(6, (2, 5)), torch.randn(2, 5, 4)
    (want,) = torch.autograd.grad(table[ids], table, upstream)
    torch.testing.assert_close(lookup_gradient(ids, upstream, 9), want)


@pytest.mark.slow
def test_training_sorts_the_words_as_chapter_02_says():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    sentences = [pair.src for pair in make_grammar_corpus().train]
    itos, stoi = build_vocabulary(sentences)
    losses, before, near = train(sentences, itos, stoi, tied=False)
    assert before.std() < 0.1
    assert sum(losses[-50:]) / 50 < 3.0 < losses[0]
    feminine = {"polizistin", "tante", "ärztin", "schwester", "mutter"}
    assert set(near("frau", 4)) <= feminine
    masculine = {"freund", "vater", "nachbar", "bruder", "bauer", "lehrer", "student"}
    masculine |= {"junge", "onkel", "busfahrer"}
    assert set(near("mann", 4)) <= masculine
    assert {"blau", "grün"} <= set(near("rot", 4))
    separable = {"holt", "weckt", "wirft", "zieht", "lädt", "räumt", "macht", "steht"}
    separable |= {"wacht", "kommt", "bringt", "nimmt", "sieht", "schläft", "läuft"}
    assert len(separable & set(near("ruft", 4))) >= 3
    articles = {"diesen", "unseren", "deinen", "seinen", "einen", "meinen", "keinen"}
    assert set(near("den", 4)) <= articles | {"ihren", "euren", "jeden", "welchen"}
    buildings = {"museum", "krankenhaus", "haus", "dorf", "wohnzimmer", "kirche"}
    assert len(buildings & set(near("schloss", 6))) >= 3
    tied_losses, _, _ = train(sentences, itos, stoi, tied=True)
    assert sum(tied_losses[-50:]) > 1.3 * sum(losses[-50:])


def train(sentences, itos, stoi, tied):
    embedding, projection = TokenEmbedding(len(itos), 64), nn.Linear(64, len(itos))
    if tied:
        tie_weights(embedding, projection)
    losses, tables = train_word_vectors(
        NeighbourModel(embedding, projection),
        embedding.table.weight,
        make_windows(sentences, stoi),
        FitSettings(steps=1000, batch_size=256, learning_rate=1e-2),
        keep=(0, 1000),
    )

    def near(word, count):
        found = nearest_words(tables[1000], stoi[word], count)
        return [itos[number] for number, _ in found]

    return losses, tables[0], near
