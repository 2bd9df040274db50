"""Sentence pairs and corpora, the data types that the whole course uses."""

from collections.abc import Iterator
from dataclasses import dataclass

Alignment = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Hold a sentence, its translation and, if known, the alignment of their words.

    `alignment` contains the links `(src_index, tgt_index)` in ascending order. It is
    None if the words are not aligned, as in Multi30k.
    """

    src: tuple[str, ...]
    tgt: tuple[str, ...]
    alignment: Alignment | None = None

    def translations(self, src_index: int) -> tuple[str, ...]:
        """Return the target words aligned with one source word, from left to right.

        Raises:
            ValueError: if the pair has no alignment.
            IndexError: if `src_index` is not a position of the source sentence.
        """
        if self.alignment is None:
            raise ValueError("expected a pair with an alignment, found none")
        if not 0 <= src_index < len(self.src):
            raise IndexError(
                f"expected a source position from 0 to {len(self.src) - 1}, "
                f"found {src_index}"
            )
        return tuple(self.tgt[j] for i, j in self.alignment if i == src_index)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Hold the three splits of a corpus.

    For each test pair, `novel` is True if the pair contains a combination of words that
    never occurs in training. It is empty if this is not known.
    """

    train: tuple[SentencePair, ...]
    valid: tuple[SentencePair, ...]
    test: tuple[SentencePair, ...]
    novel: tuple[bool, ...] = ()

    def splits(self) -> Iterator[tuple[str, tuple[SentencePair, ...]]]:
        """Yield the name and the pairs of each split."""
        yield "train", self.train
        yield "valid", self.valid
        yield "test", self.test
