"""Distinguish sentences from shuffles, a task that needs positions (unit 03).

Each sentence is paired with its own words in random order, so that only the positions
of the words distinguish them. The embedding and the positions are passed in as
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
    """Sentences and their shuffles.

    Attributes:
        ids: (2n, t) word numbers, padded at the end: a sentence, its shuffle, the next.
        is_sentence: (2n,), 1 for a sentence and 0 for a shuffle.
    """

    ids: Tensor
    is_sentence: Tensor


def make_order_task(
    sentences: Sequence[Sequence[str]], numbers: Mapping[str, int], seed: int = 0
) -> OrderTask:
    """Pair each sentence, without its last token, with a shuffle.

    The last token is a full stop or a question mark, and its position would give away
    the answer.

    Args:
        sentences: the words of each sentence.
        numbers: the number of each word; a word without one is `<unk>`.
        seed: equal seeds give equal shuffles.
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
    """Transform each word with its position, average, and classify.

    Args:
        embedding: from word numbers (b, t) to vectors (b, t, d_model).
        positions: adds places to vectors (b, t, d_model).
        d_model: width of the vectors.
    """

    def __init__(
        self, embedding: nn.Module, positions: nn.Module, d_model: int
    ) -> None:
        """Make the layers that look and decide."""
        super().__init__()
        self.embedding, self.positions = embedding, positions
        self.look = nn.Linear(d_model, 2 * d_model)
        self.decide = nn.Linear(2 * d_model, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logit (b,) for "this is a sentence", given ids (b, t)."""
        seen = self.look(self.positions(self.embedding(ids))).relu()
        is_word = (ids != PAD_ID).unsqueeze(-1)  # (b, t, 1)
        mean = (seen * is_word).sum(dim=1) / is_word.sum(dim=1)
        return self.decide(mean).squeeze(-1)


def train_order(
    model: OrderClassifier, task: OrderTask, settings: FitSettings
) -> list[float]:
    """Train a model to classify sentences and shuffles; return each step's loss."""

    def loss_of(rows: Tensor) -> Tensor:
        logits = model(task.ids[rows])
        return F.binary_cross_entropy_with_logits(logits, task.is_sentence[rows])

    return fit(model, loss_of, len(task.ids), settings)


@torch.no_grad()
def order_accuracy(model: OrderClassifier, task: OrderTask) -> float:
    """Return the share in [0, 1] of correctly classified sentences and shuffles."""
    guesses = model(task.ids) > 0
    return (guesses == task.is_sentence.bool()).float().mean().item()
