"""Compute chapter 13's facts about Multi30k: `python benchmarks/multi30k_facts.py`.

Write `benchmarks/results/multi30k_facts.json`, which contains numbers and a few single
words, but no sentences. The book reads this file, because the licence of Multi30k does
not allow us to ship the data.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from transformer.data import UNK, SentencePair, Vocabulary, load_multi30k
from transformer.experiments.capstone import multi30k_task
from transformer.translation.bleu import corpus_bleu

RESULT = Path(__file__).with_name("results") / "multi30k_facts.json"
SIDES = ("src", "tgt")


def sentences(pairs: Sequence[SentencePair], side: str) -> list[tuple[str, ...]]:
    """Return the source sentences or the target sentences of pairs."""
    return [getattr(pair, side) for pair in pairs]


def length_facts(pairs: Sequence[SentencePair], side: str) -> dict[str, float]:
    """Compute statistics of the sentence lengths, in words."""
    lengths = [len(words) for words in sentences(pairs, side)]
    twentieths = quantiles(lengths, n=20, method="inclusive")
    return {
        "mean": round(mean(lengths), 2),
        "median": twentieths[9],
        "percentile_5": twentieths[0],
        "percentile_95": twentieths[18],
        "longest": max(lengths),
    }


def unknown_facts(
    pairs: Sequence[SentencePair], side: str, words: Vocabulary
) -> dict[str, Any]:
    """Compute the shares of unknown words and of sentences with an unknown word."""
    known = set(words.words)
    unknown = [[w for w in one if w not in known] for one in sentences(pairs, side)]
    tokens = sum(map(len, sentences(pairs, side)))
    missing = [word for one in unknown for word in one]
    return {
        "tokens": tokens,
        "unknown_tokens": len(missing),
        "share_of_tokens": round(len(missing) / tokens, 5),
        "share_of_sentences": round(sum(map(bool, unknown)) / len(unknown), 4),
        "mean_letters": round(mean(map(len, missing)), 2) if missing else None,
        "mean_letters_of_known": round(
            mean(len(w) for one in sentences(pairs, side) for w in one if w in known), 2
        ),
    }


def group_sizes(pairs: Sequence[SentencePair], limits: Sequence[int]) -> list[int]:
    """Count the sources in each group of lengths that `bleu_by_length` makes."""
    sizes = Counter(sum(len(p.src) > limit for limit in limits) for p in pairs)
    return [sizes[number] for number in range(len(limits) + 1)]


def best_bleu(pairs: Sequence[SentencePair], words: Vocabulary) -> float:
    """Compute the BLEU of perfect translations in which unknown words become <unk>."""
    known = set(words.words)
    wanted = sentences(pairs, "tgt")
    written = [[w if w in known else UNK for w in one] for one in wanted]
    return round(corpus_bleu(written, wanted), 2)


def measure(folder: str | None) -> dict[str, Any]:
    """Compute all facts."""
    corpus = load_multi30k(folder)
    task = multi30k_task(corpus)
    words = dict(zip(SIDES, task.vocabularies, strict=True))
    counts = {
        side: Counter(w for one in sentences(corpus.train, side) for w in one)
        for side in SIDES
    }
    return {
        "pairs": {name: len(pairs) for name, pairs in corpus.splits()},
        "vocabulary": {side: len(words[side]) for side in SIDES},
        "distinct_train_words": {side: len(counts[side]) for side in SIDES},
        "seen_once": {
            side: sum(n == 1 for n in counts[side].values()) for side in SIDES
        },
        "lengths": {
            name: {side: length_facts(pairs, side) for side in SIDES}
            for name, pairs in corpus.splits()
        },
        "unknown": {
            name: {side: unknown_facts(pairs, side, words[side]) for side in SIDES}
            for name, pairs in corpus.splits()
        },
        "limits": list(task.limits),
        "group_sizes": {
            name: group_sizes(pairs, task.limits) for name, pairs in corpus.splits()
        },
        "best_bleu_without_unknown_words": best_bleu(corpus.test, words["tgt"]),
        "unknown_test_words": sorted(
            {w for p in corpus.test for w in p.src} - set(words["src"].words),
            key=lambda word: (len(word), word),
        )[-6:],
    }


def main() -> None:
    """Write the file, and print its text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data-dir",
        default=os.environ.get("MULTI30K_DIR"),
        help="folder of Multi30k's files; by default $MULTI30K_DIR, else a download",
    )
    facts = measure(parser.parse_args().data_dir)
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
