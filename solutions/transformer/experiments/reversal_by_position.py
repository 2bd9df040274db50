"""The experiment of unit 03: learn to reverse sequences with and without positions.

A small Transformer learns to write a sequence of symbols backwards. It is then tested
on sequences of other lengths.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.config import Positions, TransformerConfig
from transformer.data.reversal import make_reversal_pairs
from transformer.data.special_tokens import PAD_ID, SPECIAL_TOKENS
from transformer.experiments.fitting import FitSettings, fit
from transformer.model import Transformer
from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.step import teacher_forcing_split
from transformer.translation.inference import greedy_decode


@dataclass(frozen=True)
class ReversalTask:
    """Describe the training sequences.

    Attributes:
        length: symbols in the longest sequence.
        min_length: symbols in the shortest sequence; None = all have the same length.
        n_symbols: number of different symbols.
        n_pairs: number of sequences.
    """

    length: int = 8
    min_length: int | None = None
    n_symbols: int = 16
    n_pairs: int = 20_000


@dataclass(frozen=True)
class Accuracy:
    """Hold the accuracy as shares in [0, 1].

    Attributes:
        sequences: share of sequences that are right from the first symbol to the end
            token.
        tokens: share of right symbols at their positions.
    """

    sequences: float
    tokens: float


def make_reverser(
    positions: Positions, task: ReversalTask, seed: int = 0, max_len: int = 20
) -> Transformer:
    """Make a Transformer with one layer that can learn to reverse sequences.

    Args:
        positions: "none", "sinusoidal" or "learned".
        task: the task, which sets the number of symbols.
        seed: seed of the weights.
        max_len: number of positions, which may exceed the training sequences' length.
    """
    torch.manual_seed(seed)
    words = task.n_symbols + len(SPECIAL_TOKENS)
    config = TransformerConfig(
        words,
        words,
        d_model=64,
        n_heads=4,
        n_layers=1,
        d_ff=128,
        dropout=0.0,
        max_len=max_len,
        positions=positions,
    )
    return Transformer(config)


def train_reverser(
    model: Transformer, task: ReversalTask, settings: FitSettings
) -> list[float]:
    """Train a model to reverse sequences with teacher forcing and return all losses."""
    src, tgt = make_reversal_pairs(
        task.n_pairs, task.length, task.n_symbols, seed=0, min_length=task.min_length
    )
    tgt_in, target = teacher_forcing_split(tgt)

    def loss_of(rows: Tensor) -> Tensor:
        logits = model(src[rows], tgt_in[rows])
        return label_smoothed_loss(logits, target[rows], PAD_ID)

    return fit(model, loss_of, len(src), settings)


def reversal_accuracy(
    model: Transformer, length: int, n_symbols: int, n_pairs: int = 300
) -> Accuracy:
    """Measure how accurately a model reverses new sequences of one length.

    Args:
        model: a trained model.
        length: symbols in each sequence.
        n_symbols: number of different symbols.
        n_pairs: number of sequences.
    """
    src, tgt = make_reversal_pairs(n_pairs, length, n_symbols, seed=1)
    found = greedy_decode(model, src, max_len=length + 1)
    found = F.pad(found, (0, tgt.size(1) - found.size(1)), value=PAD_ID)
    right = found == tgt
    return Accuracy(
        sequences=right.all(dim=1).float().mean().item(),
        tokens=right[:, 1:-1].float().mean().item(),  # without <sos> and <eos>
    )
