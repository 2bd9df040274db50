"""Store sentence pairs as ids in a file, from which single pairs can be read.

`NAME.ids` contains the ids of all pairs in order, source before target, with two bytes
for each id. `NAME.lengths` contains the number of ids of each source and target. Only
the lengths and the start of each pair are in memory, which takes twelve bytes per pair.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from transformer.data import EOS_ID, SOS_ID, Subwords

ID = np.dtype("<u2")
TOGETHER = 5000  # number of pairs that are numbered at once
Ids = tuple[np.ndarray, np.ndarray]


class NumberedPairs:
    """Read sentence pairs from two files with the same name.

    Attributes:
        lengths: (n, 2), the numbers of tokens of each source and target, with <sos> and
            <eos>.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Read the lengths, but not the ids.

        Raises:
            ValueError: if the two files do not match.
        """
        self._path = folder / f"{name}.ids"
        self.lengths = np.fromfile(folder / f"{name}.lengths", ID).reshape(-1, 2)
        ends = self.lengths.sum(axis=1, dtype=np.int64).cumsum()
        self._starts = ends - self.lengths.sum(axis=1, dtype=np.int64)
        if self._path.stat().st_size != ID.itemsize * int(ends[-1]):
            raise ValueError(
                f"{self._path} is damaged: expected {int(ends[-1]):,} ids; train anew "
                "in another folder"
            )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.lengths)

    def read(self, numbers: Sequence[int] | np.ndarray) -> list[Ids]:
        """Return the source ids and target ids of the pairs with these numbers."""
        with self._path.open("rb") as file:
            return [self._read_one(file, int(number)) for number in numbers]

    def _read_one(self, file: BinaryIO, number: int) -> Ids:
        src, tgt = map(int, self.lengths[number])
        file.seek(ID.itemsize * int(self._starts[number]))
        ids = np.frombuffer(file.read(ID.itemsize * (src + tgt)), ID)
        return ids[:src], ids[src:]


def number_pairs(
    pairs: Iterable[tuple[str, str]],
    subwords: Subwords,
    folder: Path,
    name: str,
    longest: int,
) -> list[int]:
    """Write pairs of texts as ids, for `NumberedPairs` to read.

    Args:
        pairs: pairs of texts.
        subwords: the subwords for splitting the texts.
        folder: folder for the two files.
        name: name of the two files.
        longest: maximum number of tokens in a sentence, including <sos> and <eos>.
            Pairs with a longer sentence are left out.

    Returns:
        The numbers of the pairs that were left out, counted from 1.
    """
    left_out: list[int] = []
    pairs, first = iter(pairs), 1
    with (
        (folder / f"{name}.ids").open("wb") as ids,
        (folder / f"{name}.lengths").open("wb") as lengths,
    ):
        while some := list(islice(pairs, TOGETHER)):
            both = _number(some, subwords)
            fits = [max(map(len, pair)) <= longest for pair in both]
            left_out += [first + i for i, fit in enumerate(fits) if not fit]
            kept = [pair for pair, fit in zip(both, fits, strict=True) if fit]
            ids.write(np.array([i for s, t in kept for i in s + t], ID).tobytes())
            lengths.write(np.array([[len(s), len(t)] for s, t in kept], ID).tobytes())
            first += len(some)
    return left_out


def _number(
    texts: list[tuple[str, str]], subwords: Subwords
) -> list[tuple[list[int], list[int]]]:
    """Return the ids of pairs of texts, between <sos> and <eos>."""
    src, tgt = (subwords.number(side) for side in zip(*texts, strict=True))
    return [(_with_ends(s), _with_ends(t)) for s, t in zip(src, tgt, strict=True)]


def _with_ends(ids: list[int]) -> list[int]:
    return [SOS_ID, *ids, EOS_ID]
