"""Time the translation of a test set with the fast search and with the plain search.

    python benchmarks/translation.py runs/tutorial [--data-dir DIR] [--threads 2]

The fast search works in batches with a cache. The plain search is the one that the book
teaches, sentence by sentence without a cache. It translates only every fourth sentence,
and its time is scaled to the whole set. Both must give the same words.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from timing import Ratio, compare, seconds

from transformer.data import Corpus, SentencePair, Vocabularies
from transformer.model import Transformer
from transformer.training.checkpoints import load_checkpoint
from transformer.training.config import TrainingConfig
from transformer.training.loop import BEST
from transformer.training.presets import (
    CorpusName,
    Preset,
    load_corpus,
    make_data,
    make_trainer,
    number_words,
    recipe,
)
from transformer.translation.beams import SearchSettings
from transformer.translation.evaluation import translate_pairs
from transformer.translation.fast import fast_translation

EVERY = 4
BATCH = 384
SEARCHES = {"greedy": SearchSettings(1), "beam 5": SearchSettings(5)}


def measure(
    model: Transformer,
    pairs: Sequence[SentencePair],
    words: Vocabularies,
    settings: SearchSettings,
) -> Ratio:
    """Translate a test set with the fast, the plain and again the fast search.

    Raises:
        SystemExit: if the translations differ.
    """
    sample = pairs[::EVERY]
    times: dict[str, list[float]] = {"fast": [], "plain": []}
    found = {}

    def fast() -> None:
        found["fast"] = translate_pairs(
            model, pairs, words, settings, BATCH, search=fast_translation
        )

    def plain() -> None:
        found["plain"] = translate_pairs(model, sample, words, settings, 1)

    translate_pairs(model, pairs[:64], words, settings, 64, search=fast_translation)
    for name, run in (("fast", fast), ("plain", plain), ("fast", fast)):
        times[name].append(seconds(run))
    differing = sum(
        mine != peer
        for mine, peer in zip(found["fast"][::EVERY], found["plain"], strict=True)
    )
    if differing:
        raise SystemExit(f"{differing} of {len(sample)} translations differ")
    scaled = times["plain"][0] * len(pairs) / len(sample)
    return compare([(one, scaled) for one in times["fast"]])


def trained_for_a_moment(
    corpus: Corpus, words: Vocabularies, steps: int = 150
) -> Transformer:
    """Train the tutorial's model for a few steps, so that its translations end."""
    config = TrainingConfig.tutorial(epochs=1, epoch_steps=steps)
    device = torch.device("cpu")
    data = make_data(corpus, words, config, device)
    trainer = make_trainer(recipe(Preset.tutorial), data, config, device)
    trainer.run()
    return trainer.model.eval()


def main() -> None:
    """Measure each search, and print the results."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("run", type=Path, nargs="?", help="folder of a trained model")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    corpus = load_corpus(CorpusName.multi30k, options.data_dir)
    words = number_words(CorpusName.multi30k, corpus)
    if options.run:
        model = load_checkpoint(options.run / BEST).build_model()
    else:
        model = trained_for_a_moment(corpus, words)
    for name, settings in SEARCHES.items():
        found = measure(model, corpus.test, words, settings)
        print(
            f"{name}: {len(corpus.test):,} sentences in {found.ours:.1f} s, plainly "
            f"{found.theirs:.1f} s: {found.middle:.1f} times as fast, the same words",
            flush=True,
        )


if __name__ == "__main__":
    main()
