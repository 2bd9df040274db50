"""Padded batches of sentence pairs, from torchtext's `BucketIterator`.

The order of the batches is a function of the seed and the number of the epoch alone,
so that a training run that was interrupted goes on as if it had not been.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torchtext.data import Batch as TorchtextBatch
from torchtext.data import BucketIterator, Dataset, Example, RawField
from torchtext.data import Iterator as PlainIterator

from .pairs import SentencePair
from .vocabulary import Vocabularies


@dataclass(frozen=True)
class Batch:
    """Hold a batch of padded sentences that begin with <sos> and end with <eos>.

    `src` is (b, s) and `tgt` (b, t), both of int64. `indices` are the positions
    of the pairs in the list that the batches were made from.
    """

    src: torch.Tensor
    tgt: torch.Tensor
    indices: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of sentence pairs."""
        return self.src.shape[0]


class BatchesOfEpoch(Protocol):
    """The batches of one epoch, wherever their sentences come from."""

    def __len__(self) -> int:
        """Return the number of batches."""

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches."""


class BatchSource(Protocol):
    """What a model can be trained on: batches, in another order each epoch."""

    def epoch(self, number: int) -> BatchesOfEpoch:
        """Return the batches of an epoch."""

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of epoch 0."""


class Epoch:
    """Iterate over the batches of one epoch."""

    def __init__(
        self, dataset: Dataset, groups: list[list[Example]], device: torch.device
    ) -> None:
        """Hold the examples, already grouped; tensors are made one batch at a time."""
        self._dataset, self._groups, self._device = dataset, groups, device

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._groups)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches as tensors on the device."""
        for group in self._groups:
            batch = TorchtextBatch(group, self._dataset, self._device)
            yield Batch(batch.src, batch.tgt, tuple(batch.index))


class Batches:
    """Group sentence pairs into batches, in another order each epoch."""

    def __init__(
        self, dataset: Dataset, iterator: BucketIterator, seed: int | None
    ) -> None:
        """Hold the examples and the iterator that groups them; see `make_batches`."""
        self._dataset, self._iterator, self._seed = dataset, iterator, seed

    def epoch(self, number: int) -> Epoch:
        """Return the batches of an epoch: equal seed and number, equal batches."""
        if self._seed is not None:
            state = random.Random(f"{self._seed}/{number}").getstate()
            self._iterator.random_shuffler.random_state = state
        self._iterator.init_epoch()
        groups = [list(group) for group in self._iterator.batches]
        return Epoch(self._dataset, groups, self._iterator.device)

    def __len__(self) -> int:
        """Return the number of batches of epoch 0."""
        return len(self.epoch(0))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of epoch 0."""
        return iter(self.epoch(0))


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
        device: where the tensors go.
        seed: of the shuffling; without one the pairs come in the order given.
        by_tokens: whether `batch_size` is instead the largest number of tokens in a
            batch, padding included, on the longer side.
        by_length: whether shuffled pairs of similar length come together.

    Raises:
        ValueError: for no pairs, empty sentences, too small a batch, or no such device.
    """
    _check_pairs(pairs, batch_size, by_tokens)
    dataset = _make_dataset(pairs, vocabularies)
    # torchtext's BucketIterator sorts even where it is not to shuffle.
    make_iterator = PlainIterator if seed is None else BucketIterator
    iterator = make_iterator(
        dataset,
        batch_size,
        sort_key=_longer_side,
        device=check_device(device),
        batch_size_fn=_padded_tokens if by_tokens else None,
        shuffle=seed is not None,
        sort=False,
        sort_within_batch=by_length,  # sorts pools of 100 batches before they are cut
    )
    return Batches(dataset, iterator, seed)


def _make_dataset(pairs: Sequence[SentencePair], vocabularies: Vocabularies) -> Dataset:
    src_vocab, tgt_vocab = vocabularies
    fields = [("src", src_vocab.field), ("tgt", tgt_vocab.field), ("index", RawField())]
    examples = [
        Example.fromlist([pair.src, pair.tgt, i], fields)
        for i, pair in enumerate(pairs)
    ]
    return Dataset(examples, fields)


def trim_padding(ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """Cut off the last columns of ids (b, t), as far as every row is padding there."""
    used = (ids != pad_id).any(dim=0).nonzero()
    return ids[:, : int(used.max()) + 1] if len(used) else ids


def check_device(device: torch.device | str) -> torch.device:
    """Return the device, having put something on it.

    Raises:
        ValueError: if PyTorch does not know the device or cannot reach it.
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
    least = max(map(_longest, pairs)) if by_tokens else 1
    if batch_size < least:
        unit = "tokens, to hold the longest sentence" if by_tokens else "pair"
        raise ValueError(
            f"expected a batch size of at least {least} {unit}, found {batch_size}"
        )


def _longest(pair: SentencePair) -> int:
    return max(len(pair.src), len(pair.tgt)) + 2  # <sos> and <eos>


def _longer_side(example: Example) -> tuple[int, int]:
    return max(len(example.src), len(example.tgt)), len(example.src)


def _padded_tokens(example: Example, count: int, so_far: int) -> int:
    """Return the size of a batch once an example has joined it (torchtext's hook)."""
    longest = 0 if count == 1 else so_far // (count - 1)
    return count * max(longest, _longer_side(example)[0] + 2)
