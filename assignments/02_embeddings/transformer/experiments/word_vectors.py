"""The experiment of unit 02: learn word vectors by predicting words from neighbours.

The model predicts a word from the mean of the vectors around it. This is the continuous
bag of words of Mikolov et al. (2013). The module imports no exercise, because the
embedding and the output projection are passed in as arguments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.data.special_tokens import PAD_ID
from transformer.experiments.fitting import FitSettings, fit


@dataclass(frozen=True)
class Windows:
    """Hold words and their neighbours.

    Attributes:
        words: (n,) word numbers.
        neighbours: (n, 2 * reach) numbers of the words before and after, with padding
            beyond the ends of the sentence.
    """

    words: Tensor
    neighbours: Tensor

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.words)


class NeighbourModel(nn.Module):
    """Predict a word from the mean of its neighbours' vectors.

    Args:
        embedding: from word numbers to vectors.
        projection: from a vector to a score for each word.
    """

    def __init__(self, embedding: nn.Module, projection: nn.Module) -> None:
        """Store the embedding and the projection, which may share one matrix."""
        super().__init__()
        self.embedding, self.projection = embedding, projection

    def forward(self, neighbours: Tensor) -> Tensor:
        """Return the logits (b, vocab_size) of the word between neighbours (b, n)."""
        is_word = (neighbours != PAD_ID).unsqueeze(-1)
        vectors = self.embedding(neighbours) * is_word  # (b, n, d_model)
        return self.projection(vectors.sum(dim=1) / is_word.sum(dim=1))


def make_windows(
    sentences: Sequence[Sequence[str]], numbers: Mapping[str, int], reach: int = 2
) -> Windows:
    """Collect every word of the sentences with its neighbours.

    Args:
        sentences: the words of each sentence, at least two.
        numbers: the number of each word.
        reach: number of neighbours before and after a word.

    Returns:
        All words of all sentences, each with its neighbours.

    Raises:
        ValueError: if a sentence has fewer than two words.
    """
    words, neighbours = [], []
    edge = [PAD_ID] * reach
    for sentence in sentences:
        if len(sentence) < 2:
            raise ValueError(f"expected two words at least, found {list(sentence)}")
        ids = [*edge, *(numbers[word] for word in sentence), *edge]
        for i in range(reach, len(ids) - reach):
            words.append(ids[i])
            neighbours.append(ids[i - reach : i] + ids[i + 1 : i + 1 + reach])
    return Windows(torch.tensor(words), torch.tensor(neighbours))


def train_word_vectors(
    model: NeighbourModel,
    table: Tensor,
    windows: Windows,
    settings: FitSettings,
    keep: Collection[int] = (),
) -> tuple[list[float], dict[int, Tensor]]:
    """Train a model to predict words, and keep copies of the table during training.

    Args:
        model: changed in place.
        table: the model's matrix of word vectors, (vocab_size, d_model).
        windows: the training data.
        settings: settings of the training.
        keep: the steps after which the table is copied; 0 is before training.

    Returns:
        The loss of each step in nats per word, and the table after each step of `keep`.
    """
    kept: dict[int, Tensor] = {}
    steps_done = 0

    def loss_of(rows: Tensor) -> Tensor:
        nonlocal steps_done
        if steps_done in keep:
            kept[steps_done] = table.detach().clone()
        steps_done += 1
        return F.cross_entropy(model(windows.neighbours[rows]), windows.words[rows])

    losses = fit(model, loss_of, len(windows), settings)
    if settings.steps in keep:
        kept[settings.steps] = table.detach().clone()
    return losses, kept


def nearest_words(table: Tensor, number: int, count: int) -> list[tuple[int, float]]:
    """Find the words whose vectors have the smallest angle to the vector of a word.

    Args:
        table: (vocab_size, d_model).
        number: the word's number.
        count: number of neighbours to return.

    Returns:
        The numbers and cosines of these words, the nearest first, without the word
            itself.
    """
    directions = F.normalize(table.detach(), dim=-1)
    cosines = directions @ directions[number]
    cosines[number] = -torch.inf
    best = cosines.topk(count)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
