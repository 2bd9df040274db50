"""Sentence or shuffle: the data and the classifier of unit 03."""

import torch

from transformer.embeddings import TokenEmbedding
from transformer.experiments.word_order import (
    OrderClassifier,
    make_order_task,
)
from transformer.positional import (
    LearnedPositionalEncoding,
)


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
    model = OrderClassifier(
        TokenEmbedding(9, 32), LearnedPositionalEncoding(32, 20), 32
    )
    padded, bare = torch.tensor([[4, 5, 1, 1]]), torch.tensor([[4, 5]])
    torch.testing.assert_close(model(padded), model(bare))
