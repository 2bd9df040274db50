"""The experiments of units 04 and 05, in which every word looks up other words.

The module imports no exercise, because the attention is passed in as an argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.experiments.fitting import FitSettings, fit


@dataclass(frozen=True)
class LookUpTask:
    """Predict the words at fixed distances from every word of a sentence.

    A sentence is a ring, so its first word follows its last word. Sentences are random,
    so that no word can be guessed from its neighbours.

    Attributes:
        n_words: words of the vocabulary.
        length: words of a sentence, t.
        distances: distances of the words to predict, where -1 is the previous word.
    """

    n_words: int
    length: int
    distances: Sequence[int]

    def draw(self, n_sentences: int, generator: torch.Generator) -> Tensor:
        """Draw random sentences: ids (b, t)."""
        shape = (n_sentences, self.length)
        return torch.randint(self.n_words, shape, generator=generator)

    def answers(self, ids: Tensor) -> Tensor:
        """Return the words to predict: ids (b, t, number of distances)."""
        found = [ids.roll(-distance, dims=1) for distance in self.distances]
        return torch.stack(found, dim=-1)


class LookUpModel(nn.Module):
    """Embed words and positions, apply attention once, and predict the other words.

    Args:
        attention: self-attention of width `d_model`. When called with queries, keys and
            values (b, t, d_model), it returns an output of the same shape and its
            weights.
        d_model: width.
        task: the task.
    """

    def __init__(self, attention: nn.Module, d_model: int, task: LookUpTask) -> None:
        """Make the embeddings and the output layer."""
        super().__init__()
        self.n_answers = len(task.distances)
        self.words = nn.Embedding(task.n_words, d_model)
        self.positions = nn.Embedding(task.length, d_model)
        self.attention = attention
        self.answer = nn.Linear(d_model, self.n_answers * task.n_words)
        for table in (self.words, self.positions):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Predict the words at the task's distances from every word.

        Args:
            ids: (b, t).

        Returns:
            Logits (b, t, number of distances, n_words), and the attention's weights.
        """
        x = self.words(ids) + self.positions.weight
        found, weights = self.attention(x, x, x)
        return self.answer(found).unflatten(-1, (self.n_answers, -1)), weights


def train_look_up(
    model: LookUpModel, task: LookUpTask, steps: int = 300, seed: int = 0
) -> list[float]:
    """Train a model on new sentences at every step, and test it.

    Args:
        model: changed in place.
        task: the task.
        steps: number of batches of 64 sentences.
        seed: seed of the sentences.

    Returns:
        The share of right predictions for each distance, on 500 new sentences.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(steps):
        ids = task.draw(64, generator)
        logits, _ = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 2), task.answers(ids).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return shares_right(model, task, task.draw(500, generator))


def look_up_losses(
    model: LookUpModel, task: LookUpTask, settings: FitSettings
) -> list[float]:
    """Train a model on 20,000 sentences and return the loss of each step, in nats.

    Args:
        model: changed in place.
        task: the task.
        settings: settings of the training, whose seed also draws the sentences.
    """
    ids = task.draw(20_000, torch.Generator().manual_seed(settings.seed))
    answers = task.answers(ids)

    def loss_of(rows: Tensor) -> Tensor:
        logits, _ = model(ids[rows])
        return F.cross_entropy(logits.flatten(0, 2), answers[rows].flatten())

    return fit(model, loss_of, len(ids), settings)


@torch.no_grad()
def shares_right(model: LookUpModel, task: LookUpTask, ids: Tensor) -> list[float]:
    """Return the share of right predictions for each distance."""
    model.eval()
    is_right = model(ids)[0].argmax(dim=-1) == task.answers(ids)
    return is_right.float().mean(dim=(0, 1)).tolist()
