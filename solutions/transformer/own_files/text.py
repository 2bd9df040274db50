"""Read parallel text from two files, with one sentence per line."""

import gzip
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

LONGEST_LINE = 8000  # characters; a longer line is not accepted as a sentence
_MOST_BYTES = 4 * LONGEST_LINE + 1024  # maximum bytes of a line of that length
_GZIP = b"\x1f\x8b"


class TextError(ValueError):
    """Report an invalid text file in a message that names the file and the line."""


@dataclass
class PairedText:
    """Two files of sentences, in which equal line numbers are translations.

    Attributes:
        src: file of the source sentences, plain or compressed with gzip.
        tgt: file of the target sentences.
    """

    src: Path
    tgt: Path

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs, with only one line of each file in memory at a time.

        Raises:
            TextError: at the first line that is missing or not a sentence.
        """
        src, tgt = read_sentences(self.src), read_sentences(self.tgt)
        number = 0
        while True:
            pair = next(src, None), next(tgt, None)
            if pair[0] is None or pair[1] is None:
                break
            number += 1
            yield cast(tuple[str, str], pair)
        if pair != (None, None):
            lengths = [number, number]
            lengths[pair[0] is None] += 1 + sum(1 for _ in (src if pair[0] else tgt))
            raise TextError(
                f"{self.src} has {lengths[0]:,} lines and {self.tgt} {lengths[1]:,}: "
                "expected as many, line i of one being the translation of line i of "
                "the other"
            )
        if number == 0:
            raise TextError(f"{self.src} and {self.tgt} are empty")


def require_different_files(texts: Iterable[PairedText]) -> None:
    """Check that no file occurs twice, not even under different names.

    Raises:
        TextError: if a file occurs twice. The message names the first such file.
    """
    seen: dict[tuple[int, int], Path] = {}
    for path in (path for text in texts for path in (text.src, text.tgt)):
        if not path.exists():  # its reader reports the error
            continue
        status = path.stat()
        file = (status.st_dev, status.st_ino)
        if file in seen:
            other = "" if seen[file] == path else f", once as {seen[file]}"
            raise TextError(
                f"{path} is named twice{other}: source and translation, training, "
                "validation and test are each files of their own"
            )
        seen[file] = path


def read_sentences(path: Path) -> Iterator[str]:
    """Yield the lines of a file in Unicode's NFC, without white space at the ends.

    Raises:
        TextError: if there is no such file, or at the first line that is empty, too
            long, or not UTF-8.
    """
    number = 0
    try:
        with _open(path) as file:
            while line := file.readline(_MOST_BYTES):
                number += 1
                yield _sentence(line, path, number)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TextError(
            f"{path} is damaged after line {number}: {str(error).rstrip('.')}"
        ) from error


def _open(path: Path) -> BinaryIO:
    """Open a file, which may be compressed with gzip whatever its name."""
    if not path.is_file():
        kind = "it is a folder" if path.is_dir() else "there is none"
        if path.exists() and not path.is_dir():
            kind = "it cannot be read twice, as a file can"
        raise TextError(f"{path}: expected a text file, but {kind}")
    with path.open("rb") as file:
        is_gzip = file.read(2) == _GZIP
    return cast(BinaryIO, gzip.open(path)) if is_gzip else path.open("rb")


def _sentence(line: bytes, path: Path, number: int) -> str:
    """Return the text of a line, or raise a `TextError` that explains the problem."""
    if len(line) == _MOST_BYTES:  # readline stopped at its limit
        raise TextError(_too_long(path, number, f"over {_MOST_BYTES:,} bytes"))
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        raise TextError(
            f"{path}, line {number}: expected UTF-8, found the byte "
            f"0x{line[error.start]:02x} after {error.start} others; save the file as "
            "UTF-8"
        ) from error
    if not any(map(str.isprintable, text)):  # finds U+200B, which strip() keeps
        raise TextError(
            f"{path}, line {number}: expected a sentence, found an empty line; take "
            "this line out of both files"
        )
    if len(text) > LONGEST_LINE:
        found = f"{len(text):,} characters ({len(text.split()):,} words)"
        raise TextError(_too_long(path, number, found))
    return unicodedata.normalize("NFC", text)


def _too_long(path: Path, number: int, found: str) -> str:
    return (
        f"{path}, line {number}: expected a sentence of at most {LONGEST_LINE:,} "
        f"characters, found {found}; divide it, or take it out of both files"
    )


@dataclass
class EvenSample:
    """Keep evenly spaced pairs from a stream of unknown length.

    Attributes:
        most: maximum number of pairs to keep.
        kept: the pairs kept so far.
        every: distance between kept pairs; doubles each time that `kept` is full.
        seen: number of pairs seen so far.
    """

    most: int
    kept: list[tuple[str, str]] = field(default_factory=list)
    every: int = 1
    seen: int = 0

    def add(self, pair: tuple[str, str]) -> None:
        """Keep or skip the next pair."""
        if self.seen % self.every == 0:
            if len(self.kept) == self.most:
                self.kept = self.kept[::2]
                self.every *= 2
            if self.seen % self.every == 0:
                self.kept.append(pair)
        self.seen += 1
