"""Word vectors of unit 02: windows, neighbours and gradients."""

import pytest
import torch
from torch import nn

from transformer.analysis.embeddings import lookup_gradient
from transformer.embeddings import TokenEmbedding
from transformer.experiments.word_vectors import (
    NeighbourModel,
    make_windows,
    nearest_words,
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
