"""Distinguish sentences from shuffled sentences, a task that needs positions (unit 03).

Each sentence is paired with its own words in random order, so the two differ only in
the positions of their words. The embedding and the positions are passed in as
arguments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.data.special_tokens import PAD_ID, UNK_ID
from transformer.experiments.fitting import FitSettings, fit


@dataclass(frozen=True)
class OrderTask:
    """Hold sentences and shuffled copies of them.

    Attributes:
        ids: (2n, t) word numbers, padded at the end: a sentence, its shuffled copy, the
            next sentence, and so on.
        is_sentence: (2n,), 1 for a sentence and 0 for a shuffled copy.
    """

    ids: Tensor
    is_sentence: Tensor


def make_order_task(
    sentences: Sequence[Sequence[str]], numbers: Mapping[str, int], seed: int = 0
) -> OrderTask:
    """Pair each sentence, without its last token, with a shuffled copy.

    The last token is a full stop or a question mark, and its position would reveal
    whether the sentence is shuffled.

    Args:
        sentences: the words of each sentence.
        numbers: the number of each word; a word without a number becomes `<unk>`.
        seed: equal seeds give equal shuffled copies.
    """
    generator = torch.Generator().manual_seed(seed)
    longest = max(map(len, sentences)) - 1
    ids = torch.full((2 * len(sentences), longest), PAD_ID)
    for row, sentence in enumerate(sentences):
        words = torch.tensor([numbers.get(word, UNK_ID) for word in sentence[:-1]])
        order = torch.randperm(len(words), generator=generator)
        ids[2 * row, : len(words)] = words
        ids[2 * row + 1, : len(words)] = words[order]
    return OrderTask(ids, torch.tensor([1.0, 0.0]).repeat(len(sentences)))


class OrderClassifier(nn.Module):
    """Transform each word with its position, average the results, and classify.

    Args:
        embedding: maps word numbers (b, t) to vectors (b, t, d_model).
        positions: adds positions to vectors (b, t, d_model).
        d_model: width of the vectors.
    """

    def __init__(
        self, embedding: nn.Module, positions: nn.Module, d_model: int
    ) -> None:
        """Make the hidden layer and the output layer."""
        super().__init__()
        self.embedding, self.positions = embedding, positions
        self.look = nn.Linear(d_model, 2 * d_model)
        self.decide = nn.Linear(2 * d_model, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return a logit (b,) for each row of ids (b, t), positive for a sentence."""
        seen = self.look(self.positions(self.embedding(ids))).relu()
        is_word = (ids != PAD_ID).unsqueeze(-1)  # (b, t, 1)
        mean = (seen * is_word).sum(dim=1) / is_word.sum(dim=1)
        return self.decide(mean).squeeze(-1)


def train_order(
    model: OrderClassifier, task: OrderTask, settings: FitSettings
) -> list[float]:
    """Train a model to detect shuffled sentences and return the loss of each step."""

    def loss_of(rows: Tensor) -> Tensor:
        logits = model(task.ids[rows])
        return F.binary_cross_entropy_with_logits(logits, task.is_sentence[rows])

    return fit(model, loss_of, len(task.ids), settings)


@torch.no_grad()
def order_accuracy(model: OrderClassifier, task: OrderTask) -> float:
    """Return the share in [0, 1] of rows that the model classifies correctly."""
    guesses = model(task.ids) > 0
    return (guesses == task.is_sentence.bool()).float().mean().item()
