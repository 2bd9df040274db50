"""A small model that writes a text word by word, with the mask as an argument.

It shows the effect of a mask with two layers of attention, without an encoder or
decoder.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.data import make_reversal_pairs
from transformer.experiments.fitting import FitSettings, fit
from transformer.parts import InputEmbedding, make_attention

MakeMask = Callable[[Tensor], Tensor | None]

SETTINGS = FitSettings(steps=200, batch_size=32)


class NextWordModel(nn.Module):
    """Compute logits for every next word, from the words that the mask allows.

    Args:
        config: sizes, with the target vocabulary as the model's vocabulary.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make the embedding, `n_layers` layers of attention, and the output."""
        super().__init__()
        self.embedding = InputEmbedding(config.tgt_vocab_size, config)
        layers = range(config.n_layers)
        self.attentions = nn.ModuleList(make_attention(config) for _ in layers)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in layers)
        self.projection = nn.Linear(config.d_model, config.tgt_vocab_size)

    def mix(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let the tokens (b, t, d_model) attend to each other in every layer."""
        for attention, norm in zip(self.attentions, self.norms, strict=True):
            x = norm(x + attention(x, x, x, mask)[0])
        return x

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the logits (b, t, vocab_size) of the words after `ids`.

        Args:
            ids: (b, t) word numbers.
            mask: bool, broadcastable to (b, h, t, t), True = may attend.
        """
        return self.projection(self.mix(self.embedding(ids), mask))


@dataclass(frozen=True)
class Task:
    """Hold sentences whose first words are given and whose other words are predicted.

    Attributes:
        sentences: (n, t) word numbers.
        given: number of given words at the start of each sentence.
        words: the words, ordered by their numbers.
    """

    sentences: Tensor
    given: int
    words: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentences)

    def spell(self, ids: Tensor) -> str:
        """Return the words for one row of numbers as a text."""
        return " ".join(self.words[i] for i in ids.tolist())


def mirror_task(words: Sequence[str], length: int, n: int, seed: int) -> Task:
    """Draw sentences of random words, each followed by <sos>, its reversal and <eos>.

    Args:
        words: the words of the sentences, numbered from 4.
        length: number of words in each sentence, without <sos>, the reversal and <eos>.
        n: number of sentences.
        seed: equal seeds give equal sentences.
    """
    src, tgt = make_reversal_pairs(n, length, len(words), seed)
    names = ("<unk>", "<pad>", "<sos>", "<eos>", *words)
    return Task(torch.cat([src, tgt], dim=1), length + 1, names)


def next_word_loss(model: NextWordModel, task: Task, make_mask: MakeMask) -> Tensor:
    """Compute the mean cross-entropy of all words that the model should predict."""
    read, wanted = task.sentences[:, :-1], task.sentences[:, task.given :]
    logits = model(read, make_mask(read))[:, task.given - 1 :]
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten())


def train_next_word(
    model: NextWordModel,
    task: Task,
    make_mask: MakeMask,
    settings: FitSettings = SETTINGS,
) -> list[float]:
    """Train a model on a task with one kind of mask and return each step's loss."""

    def loss_of(rows: Tensor) -> Tensor:
        part = Task(task.sentences[rows], task.given, task.words)
        return next_word_loss(model, part, make_mask)

    return fit(model, loss_of, len(task), settings)


@torch.no_grad()
def write_on(model: NextWordModel, task: Task, make_mask: MakeMask) -> Tensor:
    """Write the missing words one at a time, always the likeliest word.

    Returns:
        (n, t - given) word numbers.
    """
    model.eval()
    ids = task.sentences[:, : task.given]
    while ids.size(1) < task.sentences.size(1):
        logits = model(ids, make_mask(ids))[:, -1]
        ids = torch.cat([ids, logits.argmax(dim=-1, keepdim=True)], dim=1)
    return ids[:, task.given :]


def share_right(written: Tensor, task: Task) -> float:
    """Return the share of sentences that were written without a mistake."""
    right = (written == task.sentences[:, task.given :]).all(dim=1)
    return right.float().mean().item()
