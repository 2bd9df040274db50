"""Make padded batches of sentence pairs of similar length.

The order of the batches depends only on the seed and the number of the epoch, so a
resumed training run gets the same batches as an uninterrupted run. The order is that of
torchtext's `BucketIterator`.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from .pairs import SentencePair
from .special_tokens import PAD_ID
from .vocabulary import Vocabularies

POOL = 100  # number of batches in a pool that is sorted by length
Ids = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Batch:
    """Hold a batch of padded sentences that begin with <sos> and end with <eos>.

    `src` is (b, s) and `tgt` (b, t), both int64. `indices` are the positions of the
    pairs in the list from which the batches were made.
    """

    src: torch.Tensor
    tgt: torch.Tensor
    indices: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of sentence pairs."""
        return self.src.shape[0]


class BatchesOfEpoch(Protocol):
    """The batches of one epoch, from memory or from a file."""

    def __len__(self) -> int:
        """Return the number of batches."""

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches."""


class BatchSource(Protocol):
    """Training data as batches, in a different order each epoch."""

    def epoch(self, number: int) -> BatchesOfEpoch:
        """Return the batches of an epoch."""

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of epoch 0."""


class Epoch:
    """Iterate over the batches of one epoch."""

    def __init__(
        self, ids: Sequence[Ids], groups: list[list[int]], device: torch.device
    ) -> None:
        """Store the pairs of each batch. Tensors are made only during iteration."""
        self._ids, self._groups, self._device = ids, groups, device

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._groups)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches as tensors on the device."""
        for group in self._groups:
            src, tgt = zip(*(self._ids[i] for i in group), strict=True)
            yield Batch(
                pad(src).to(self._device), pad(tgt).to(self._device), tuple(group)
            )


@dataclass(frozen=True)
class Batches:
    """Group sentence pairs into batches, in a different order each epoch.

    `ids` are the source ids and the target ids of each pair. `make_batches` explains
    and checks the other arguments.
    """

    ids: Sequence[Ids]
    batch_size: int
    device: torch.device
    seed: int | None
    by_tokens: bool
    by_length: bool

    def epoch(self, number: int) -> Epoch:
        """Return the batches of an epoch, which depend only on the seed and number."""
        order = range(len(self.ids))
        if self.seed is None:
            groups = list(self._cut(order, self.batch_size))
            return Epoch(self.ids, groups, self.device)
        draw, groups = random.Random(f"{self.seed}/{number}"), []
        shuffled = draw.sample(order, len(order))
        for pool in self._cut(shuffled, POOL * self.batch_size):
            if self.by_length:
                pool.sort(key=self._length)
            cut = list(self._cut(pool, self.batch_size))
            groups += draw.sample(cut, len(cut))
        return Epoch(self.ids, groups, self.device)

    def __len__(self) -> int:
        """Return the number of batches of epoch 0."""
        return len(self.epoch(0))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of epoch 0."""
        return iter(self.epoch(0))

    def _length(self, pair: int) -> tuple[int, int]:
        """Return a sort key: the length of a pair's longer side, then of its source."""
        src, tgt = self.ids[pair]
        return max(len(src), len(tgt)), len(src)

    def _cut(self, order: Iterable[int], size: int) -> Iterator[list[int]]:
        """Split pairs into groups of at most `size` pairs, or `size` padded tokens."""
        group: list[int] = []
        widest = 0
        for pair in order:
            length = self._length(pair)[0] if self.by_tokens else 1
            widest = max(widest, length)
            if group and (len(group) + 1) * widest > size:
                yield group
                group, widest = [], length
            group.append(pair)
        if group:
            yield group


def make_batches(
    pairs: Sequence[SentencePair],
    vocabularies: Vocabularies,
    batch_size: int,
    *,
    device: torch.device | str = "cpu",
    seed: int | None = None,
    by_tokens: bool = False,
    by_length: bool = True,
) -> Batches:
    """Group sentence pairs into padded batches.

    Args:
        pairs: the sentence pairs.
        vocabularies: the source and the target vocabulary.
        batch_size: the largest number of pairs in a batch.
        device: device of the tensors.
        seed: seed of the shuffling; None keeps the given order.
        by_tokens: whether `batch_size` is the largest number of tokens in a batch
            instead, including padding, on the longer side.
        by_length: whether to put shuffled pairs of similar length together.

    Raises:
        ValueError: if there are no pairs, or a sentence is empty, or the batch size is
            too small, or the device does not exist.
    """
    _check_pairs(pairs, batch_size, by_tokens)
    src, tgt = vocabularies
    ids = [(src.encode(pair.src), tgt.encode(pair.tgt)) for pair in pairs]
    place = check_device(device)
    return Batches(ids, batch_size, place, seed, by_tokens, by_length)


def pad(rows: Sequence[Sequence[int] | np.ndarray]) -> torch.Tensor:
    """Put rows of ids into one tensor (b, t), with padding at the end."""
    padded = np.full((len(rows), max(map(len, rows))), PAD_ID, np.int64)
    for line, ids in zip(padded, rows, strict=True):
        line[: len(ids)] = ids
    return torch.from_numpy(padded)


def trim_padding(ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """Remove the last columns of ids (b, t) that contain only padding."""
    used = (ids != pad_id).any(dim=0).nonzero()
    return ids[:, : int(used.max()) + 1] if len(used) else ids


def check_device(device: torch.device | str) -> torch.device:
    """Return the device if a tensor can be put on it.

    Raises:
        ValueError: if PyTorch does not know the device or cannot use it.
    """
    try:
        checked = torch.device(device)
        torch.empty(0, device=checked)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(
            f"expected a device that this machine has, such as 'cpu' or 'cuda', "
            f"found {str(device)!r}: {str(error).splitlines()[0]}"
        ) from error
    return checked


def _check_pairs(
    pairs: Sequence[SentencePair], batch_size: int, by_tokens: bool
) -> None:
    if not len(pairs):
        raise ValueError("expected at least one sentence pair, found none")
    for i, pair in enumerate(pairs):
        if not (pair.src and pair.tgt):
            side = "tgt" if pair.src else "src"
            raise ValueError(
                f"pair {i}: expected at least one word in {side}, found none"
            )
    longest = max(max(len(pair.src), len(pair.tgt)) for pair in pairs)
    least = longest + 2 if by_tokens else 1  # plus <sos> and <eos>
    if batch_size < least:
        unit = "tokens, to hold the longest sentence" if by_tokens else "pair"
        raise ValueError(
            f"expected a batch size of at least {least} {unit}, found {batch_size}"
        )
