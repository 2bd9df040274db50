"""Measure what subwords do to Multi30k: `python benchmarks/subword_facts.py`.

Learns subwords from the lower-cased training pairs, once for each size, and compares
them with the whole words of chapter 13. Writes `benchmarks/results/subword_facts.json`:
numbers, and a few words of the test set that whole words do not know, in pieces.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from transformer.data import build_vocabularies, load_multi30k
from transformer.data.multi30k import find_multi30k, read_texts
from transformer.data.subwords import learn_subwords
from transformer.data.whole_file import whole_file
from transformer.training.presets import split_texts

RESULT = Path(__file__).with_name("results") / "subword_facts.json"
SIZES = (1000, 4000, 8000, 16_000)
SHOWN = 4  # unknown words, the longest


def facts(
    train: Sequence[Sequence[str]], test: Sequence[Sequence[str]], known: Iterable[str]
) -> dict[str, Any]:
    """Count one side's tokens, and those of the test set that have no number."""
    known = set(known)
    tokens = [token for sentence in test for token in sentence]
    unknown = [token for token in tokens if token not in known]
    seen = {token for sentence in train for token in sentence}
    return {
        "mean_length": round(mean(map(len, train)), 2),
        "longest": max(map(len, train)),
        "unknown_share_of_test": round(len(unknown) / len(tokens), 5),
        "never_seen_share_of_test": round(
            sum(token not in seen for token in tokens) / len(tokens), 5
        ),
    }


def word_facts(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Count whole words, and return the longest unknown German ones of the test set."""
    corpus = load_multi30k(folder)
    words = build_vocabularies(corpus.train, 2)
    row = {
        side: facts(
            [getattr(pair, side) for pair in corpus.train],
            [getattr(pair, side) for pair in corpus.test],
            vocabulary.words,
        )
        for side, vocabulary in zip(("src", "tgt"), words, strict=True)
    }
    german = {word for pair in corpus.test for word in pair.src} - set(words[0].words)
    row["vocabulary"] = sum(map(len, words))
    return row, sorted(german, key=lambda word: (-len(word), word))[:SHOWN]


def subword_facts(folder: Path, size: int, words: list[str]) -> dict[str, Any]:
    """Count subwords, and show how they spell some words."""
    train, test = (read_texts(folder, part) for part in ("train", "test"))
    subwords = learn_subwords((text for pair in train for text in pair), size, True)
    parts = split_texts(train, subwords), split_texts(test, subwords)
    row: dict[str, Any] = {
        side: facts(
            *([getattr(pair, side) for pair in part] for part in parts), subwords.pieces
        )
        for side in ("src", "tgt")
    }
    row["vocabulary"] = len(subwords.pieces)
    row["spelled"] = {word: subwords.split(word) for word in words}
    return row


def main() -> None:
    """Count, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path)
    folder = find_multi30k(parser.parse_args().data_dir)
    words, unknown = word_facts(folder)
    found = {"words": words}
    for size in SIZES:
        found[str(size)] = subword_facts(folder, size, unknown)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    with whole_file(RESULT) as file:
        file.write(f"{text}\n".encode())
    print(text)


if __name__ == "__main__":
    main()
