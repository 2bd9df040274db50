"""Compare subwords with whole words on Multi30k.

    python benchmarks/subword_facts.py [--data-dir DIR]
    python benchmarks/subword_facts.py --speed [--threads 1] [--data-dir DIR]

The program learns subwords from the lower-cased training pairs, once for each size, and
compares them with the whole words of chapter 13. It writes
`benchmarks/results/subword_facts.json`: numbers, and the subwords of a few test words
that are unknown as whole words.

`--speed` times training steps of `--config subword` and `--config best` instead. Each
round uses 64 pairs of similar length. The steps of the two alternate, and each round
gives one ratio. The result is written to `benchmarks/results/subword_speed.json`.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from timing import compare, seconds

from transformer.data import PAD_ID, Corpus, Vocabularies, load_multi30k, make_batches
from transformer.data.multi30k import find_multi30k, read_texts
from transformer.data.subwords import learn_subwords
from transformer.data.whole_file import whole_file
from transformer.data.word_counts import build_vocabularies
from transformer.training.loop import step_function
from transformer.training.presets import (
    USUAL_SUBWORDS,
    CorpusName,
    Preset,
    load_corpus,
    load_subword_corpus,
    make_data,
    make_trainer,
    number_words,
    recipe,
    split_texts,
)
from transformer.training.step import StepSettings

RESULT = Path(__file__).with_name("results") / "subword_facts.json"
SPEED = RESULT.with_name("subword_speed.json")
SIZES = (1000, 4000, 8000, 16_000)
SHOWN = 4  # number of unknown words to show, the longest ones
PAIRS, ROUNDS = 64, 40  # pairs in a batch; timed batches
DEVICE = torch.device("cpu")
Step = Callable[[Sequence[int]], object]


def facts(
    train: Sequence[Sequence[str]], test: Sequence[Sequence[str]], known: Iterable[str]
) -> dict[str, Any]:
    """Compute the lengths of one side's sentences, and the shares of unknown tokens."""
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
    """Return facts about whole words, and the longest unknown German test words."""
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
    """Return facts about subwords, and how they split some words."""
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


def step_on(preset: Preset, corpus: Corpus, words: Vocabularies) -> Step:
    """Return a function that takes a training step on the pairs at given positions."""
    chosen = recipe(preset)
    config = chosen.training()
    data = make_data(corpus, words, config, DEVICE)
    trainer = make_trainer(chosen, data, config, DEVICE)
    settings = StepSettings(PAD_ID, config.smoothing, config.max_norm)
    make_step = step_function(config, DEVICE)

    def step(places: Sequence[int]) -> object:
        pairs = [corpus.train[place] for place in places]
        batch = next(iter(make_batches(pairs, words, PAIRS)))
        optimizer = trainer.optimizer
        return make_step(trainer.model, batch.src, batch.tgt, optimizer, settings)

    return step


def alike(corpus: Corpus, rounds: int) -> list[list[int]]:
    """Draw positions of training pairs of similar length, for each round."""
    pairs = corpus.train
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].tgt))
    starts = random.Random(1).sample(range(0, len(order) - PAIRS, PAIRS), rounds)
    return [order[start : start + PAIRS] for start in starts]


def time_steps(folder: Path, threads: int) -> dict[str, Any]:
    """Time training steps on subwords and on whole words."""
    torch.set_num_threads(threads)
    name = CorpusName.multi30k
    whole = load_corpus(name, folder)
    pieces = load_subword_corpus(name, folder, USUAL_SUBWORDS)
    on_words = step_on(Preset.best, whole, number_words(name, whole))
    both = (step_on(Preset.subword, *pieces), on_words)
    chosen = alike(whole, ROUNDS + 1)
    times = [[seconds(partial(on, places)) for on in both] for places in chosen]
    ratio = compare(times[1:])  # the first only warms up
    return {
        "threads": threads,
        "torch": torch.__version__,
        "pairs_a_second": {
            "words": round(PAIRS / ratio.theirs, 1),
            "subwords": round(PAIRS / ratio.ours, 1),
        },
        "times_as_fast": ratio.rounded(),
    }


def count_all(folder: Path) -> dict[str, Any]:
    """Return facts about whole words, and about subwords of each size."""
    words, unknown = word_facts(folder)
    sizes = {str(size): subword_facts(folder, size, unknown) for size in SIZES}
    return {"words": words, **sizes}


def main() -> None:
    """Compute facts or time steps, print the results, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--speed", action="store_true", help="time training steps")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    folder = find_multi30k(options.data_dir)
    found = time_steps(folder, options.threads) if options.speed else count_all(folder)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    with whole_file(SPEED if options.speed else RESULT) as file:
        file.write(f"{text}\n".encode())
    print(text)


if __name__ == "__main__":
    main()
