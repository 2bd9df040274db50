"""Check, split, number and store text files for a training run.

A run stores its sentences in its own folder. It can then be resumed and evaluated
without the original files.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transformer.data import (
    SentencePair,
    Subwords,
    Vocabularies,
    learn_subwords,
    share_subwords,
)
from transformer.own_files.numbered import NumberedPairs, number_pairs
from transformer.own_files.text import EvenSample, PairedText, TextError

SENTENCES = "sentences"  # name of a subfolder of the run's folder
LEARN_FROM = 500_000  # maximum number of pairs, evenly spaced, to learn subwords from
_FACTS, _MODEL = "facts.json", "subwords.model"


@dataclass(frozen=True)
class Prepared:
    """Hold the sentences of a run, split into subwords.

    Attributes:
        subwords: the subwords that both sides share.
        parts: the pairs of "train", "valid" and, if given, "test".
        left_out: the line numbers of each part's pairs that were too long.
    """

    subwords: Subwords
    parts: dict[str, NumberedPairs]
    left_out: dict[str, list[int]]

    def vocabularies(self) -> Vocabularies:
        """Return the shared vocabulary twice, once for each side."""
        return share_subwords(self.subwords)

    def pairs(self, part: str) -> tuple[SentencePair, ...]:
        """Read a part into memory, and return its pairs as subwords.

        Raises:
            ValueError: if the run has no such part.
        """
        if part not in self.parts:
            raise ValueError(
                f"this run was given no sentences to {part}: name some with --src and "
                "--tgt"
            )
        numbered, pieces = self.parts[part], self.subwords.pieces
        return tuple(
            SentencePair(*(tuple(pieces[i] for i in side[1:-1]) for side in pair))
            for pair in numbered.read(range(len(numbered)))
        )


def prepare(
    texts: Mapping[str, PairedText], run: Path, size: int, longest: int
) -> Prepared:
    """Check text files, learn subwords from the training part, and number all parts.

    The function first checks every line of every file. Only then does it write the
    folder `SENTENCES` into the run's folder. This folder appears when it is complete.

    Args:
        texts: the files of "train", "valid" and perhaps "test".
        run: the run's folder.
        size: maximum number of subwords to learn.
        longest: maximum number of tokens in a sentence, including <sos> and <eos>.
            Longer pairs are left out of training and validation. In the test set they
            are an error.

    Raises:
        TextError: if a line is not valid. The message names the file and the line.
        ValueError: if this number of subwords is not possible.
        OSError: if the folder cannot be written.
    """
    sample = EvenSample(LEARN_FROM)
    for part, text in texts.items():
        for pair in text:
            if part == "train":
                sample.add(pair)
    subwords = learn_subwords((text for pair in sample.kept for text in pair), size)
    del sample
    run.mkdir(parents=True, exist_ok=True)
    half = run / f".{SENTENCES}.part"
    shutil.rmtree(half, ignore_errors=True)
    try:
        half.mkdir()
        _write(texts, subwords, half, longest)
        shutil.rmtree(run / SENTENCES, ignore_errors=True)
        half.rename(run / SENTENCES)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return load_prepared(run)


def load_prepared(run: Path) -> Prepared:
    """Load the sentences that `prepare` has written into a run's folder.

    Raises:
        ValueError: if the sentences are missing or damaged.
    """
    folder = run / SENTENCES
    if not (folder / _FACTS).is_file():
        raise ValueError(f"{run} holds no sentences: it was trained on other data")
    facts = json.loads((folder / _FACTS).read_text("utf-8"))
    return Prepared(
        Subwords((folder / _MODEL).read_bytes()),
        {part: NumberedPairs(folder, part) for part in facts},
        {part: fact.get("lines_left_out", []) for part, fact in facts.items()},
    )


def require_same_files(texts: Mapping[str, PairedText], run: Path) -> None:
    """Check that these are the files with which a run began.

    Raises:
        ValueError: if a file differs. The message names the first such file.
    """
    facts = json.loads((run / SENTENCES / _FACTS).read_text("utf-8"))
    for part, text in texts.items():
        begun = facts.get(part, {"sha256": ("", "")})["sha256"]
        for path, digest in zip((text.src, text.tgt), begun, strict=True):
            if not path.is_file() or _digest(path) != digest:
                raise ValueError(
                    f"{run} was begun with another file than {path}: give none to go "
                    "on with its sentences, or another folder as --out"
                )


def _write(
    texts: Mapping[str, PairedText], subwords: Subwords, folder: Path, longest: int
) -> None:
    """Write the ids of all parts, the subwords, and facts about the files."""
    facts = {}
    for part, text in texts.items():
        left_out = number_pairs(text, subwords, folder, part, longest)
        if left_out and part == "test":
            raise TextError(_too_long(text, left_out[0], longest))
        if not (folder / f"{part}.lengths").stat().st_size:
            raise TextError(_too_long(text, 1, longest))
        facts[part] = {
            "files": [text.src.name, text.tgt.name],
            "sha256": [_digest(text.src), _digest(text.tgt)],
            "lines_left_out": left_out,
        }
    (folder / _MODEL).write_bytes(subwords.model)
    (folder / _FACTS).write_text(json.dumps(facts, indent=1), "utf-8")


def _too_long(text: PairedText, line: int, longest: int) -> str:
    return (
        f"{text.src} and {text.tgt}, line {line}: expected sentences of at most "
        f"{longest - 2} subwords, found more; divide them"
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
