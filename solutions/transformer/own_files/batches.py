"""Read batches of sentence pairs of similar length from the disk.

Only the order of the pairs and the current batch are in memory. The order depends only
on the seed and the number of the epoch, as in `transformer.data.batches`.
"""

from collections.abc import Iterator

import numpy as np
import torch

from transformer.data import Batch, check_device
from transformer.data.batches import pad
from transformer.own_files.numbered import NumberedPairs


class FileEpoch:
    """Iterate over the batches of one epoch."""

    def __init__(
        self, pairs: NumberedPairs, groups: list[np.ndarray], device: torch.device
    ) -> None:
        """Store the pairs' numbers, from which the iteration reads the pairs."""
        self._pairs, self._groups, self._device = pairs, groups, device

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._groups)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches as tensors on the device."""
        for group in self._groups:
            sources, targets = zip(*self._pairs.read(group), strict=True)
            yield Batch(
                pad(sources).to(self._device),
                pad(targets).to(self._device),
                tuple(group.tolist()),
            )


class FileBatches:
    """Group sentence pairs of similar length, in a different order each epoch.

    Args:
        pairs: the numbered pairs to read.
        size: the largest number of pairs in a batch.
        device: device of the tensors.
        seed: seed of the order; None puts the longest pairs first.
        by_tokens: whether `size` is the largest number of tokens in a batch instead,
            including padding, on the longer side.

    Raises:
        ValueError: if the batch size is too small, or the device does not exist.
    """

    def __init__(
        self,
        pairs: NumberedPairs,
        size: int,
        *,
        device: torch.device | str = "cpu",
        seed: int | None = None,
        by_tokens: bool = False,
    ) -> None:
        """Check the arguments and store the lengths, without reading pairs."""
        self._pairs, self._size, self._seed = pairs, size, seed
        self._by_tokens, self._device = by_tokens, check_device(device)
        self._longer = pairs.lengths.max(axis=1)
        least = int(self._longer.max()) if by_tokens else 1
        if size < least:
            unit = "tokens, to hold the longest sentence" if by_tokens else "pair"
            raise ValueError(
                f"expected a batch size of at least {least} {unit}, found {size}"
            )

    def epoch(self, number: int) -> FileEpoch:
        """Return the batches of an epoch, which depend only on the seed and number."""
        order = np.arange(len(self._pairs), dtype=np.uint32)
        random = None
        if self._seed is not None:
            random = np.random.default_rng([self._seed % 2**63, number])
            random.shuffle(order)
        # Longest first; among pairs of equal length, those with the longer source
        # first.
        lengths = self._longer.astype(np.uint32) << 16 | self._pairs.lengths[:, 0]
        order = order[np.argsort(~lengths[order], kind="stable")]
        groups = self._cut(order)
        if random is not None:
            random.shuffle(groups)
        return FileEpoch(self._pairs, groups, self._device)

    def _cut(self, order: np.ndarray) -> list[np.ndarray]:
        """Split pairs, sorted from long to short, into batches."""
        groups, start = [], 0
        while start < len(order):
            longest = int(self._longer[order[start]])
            count = self._size // longest if self._by_tokens else self._size
            groups.append(order[start : start + count])
            start += count
        return groups

    def __len__(self) -> int:
        """Return the number of batches of epoch 0."""
        return len(self.epoch(0))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of epoch 0."""
        return iter(self.epoch(0))
