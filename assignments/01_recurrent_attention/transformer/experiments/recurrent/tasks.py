"""The experiments of unit 01: reversal for translators, and a classification task.

The module imports no exercise, because models and shifted targets are arguments.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.data.special_tokens import EOS_ID, PAD_ID, SOS_ID, SPECIAL_TOKENS
from transformer.experiments.fitting import FitSettings, fit
from transformer.recurrent.seq2seq import RecurrentTranslator

MARKER_ID = len(SPECIAL_TOKENS)
EXPERIMENT = FitSettings(steps=300)


def train_reversal(
    model: RecurrentTranslator,
    src: Tensor,
    tgt_in: Tensor,
    tgt: Tensor,
    settings: FitSettings | None = None,
) -> list[float]:
    """Train a translator with teacher forcing and a loss without padding.

    Args:
        model: changed in place.
        src: ids (n, s).
        tgt_in: ids (n, t), the target shifted right.
        tgt: ids (n, t), the words to predict, with `<eos>` at the end.
        settings: `EXPERIMENT` if None.

    Returns:
        The loss of each step, in nats per word.
    """

    def loss(rows: Tensor) -> Tensor:
        logits, _ = model(src[rows], tgt_in[rows])
        return F.cross_entropy(
            logits.flatten(0, 1), tgt[rows].flatten(), ignore_index=PAD_ID
        )

    return fit(model, loss, len(src), settings or EXPERIMENT)


def train_classifier(
    model: nn.Module, ids: Tensor, labels: Tensor, settings: FitSettings | None = None
) -> list[float]:
    """Train a classifier that returns logits and attention weights.

    Args:
        model: changed in place.
        ids: (n, s).
        labels: (n,).
        settings: `EXPERIMENT` if None.

    Returns:
        The loss of each step, in nats.
    """

    def loss(rows: Tensor) -> Tensor:
        logits, _ = model(ids[rows])
        return F.cross_entropy(logits, labels[rows])

    return fit(model, loss, len(ids), settings or EXPERIMENT)


def accuracy_by_length(
    model: RecurrentTranslator, src: Tensor, tgt: Tensor
) -> dict[int, float]:
    """Measure the share of target tokens that greedy decoding gets right.

    Args:
        model: a trained translator.
        src: ids (n, s).
        tgt: ids (n, t), with `<eos>` at the end, which counts as a token.

    Returns:
        For each source length, in ascending order, the share in [0, 1].
    """
    found, _ = model.greedy_decode(src, SOS_ID, EOS_ID, max_len=tgt.size(1))
    found = F.pad(found, (0, tgt.size(1) - found.size(1)), value=PAD_ID)
    counts = tgt != PAD_ID
    right = (found == tgt) & counts
    lengths = (src != PAD_ID).sum(dim=1)
    return {
        length: float(right[lengths == length].sum() / counts[lengths == length].sum())
        for length in lengths.unique().tolist()
    }


def make_marker_sentences(
    n_sentences: int, length: int, n_classes: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Draw sentences whose class is the word after a marker at a random position.

    A sentence has 3 to `length` tokens. One of them is the marker, which is never the
    last token. The others are random words, whose `n_classes` ids follow the marker's.

    Args:
        n_sentences: the number n of sentences.
        length: tokens in the longest sentence, at least 3.
        n_classes: number of classes.
        seed: equal seeds give equal sentences.

    Returns:
        Ids (n, length), padded on the right, and labels (n,) from 0.

    Raises:
        ValueError: if `length` is below 3.
    """
    if length < 3:
        raise ValueError(f"expected length of at least 3, found {length}")
    generator = torch.Generator().manual_seed(seed)
    shape = (n_sentences, length)
    ids = MARKER_ID + 1 + torch.randint(n_classes, shape, generator=generator)
    lengths = torch.randint(3, length + 1, (n_sentences, 1), generator=generator)
    marker = torch.rand((n_sentences, 1), generator=generator) * (lengths - 1)
    marker = marker.long()  # from 0 to lengths - 2
    ids.scatter_(1, marker, MARKER_ID)
    labels = ids.gather(1, marker + 1).squeeze(1) - MARKER_ID - 1
    return ids.masked_fill(torch.arange(length) >= lengths, PAD_ID), labels
