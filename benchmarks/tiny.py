"""Train the `tiny` preset on the grammar corpus; print time, BLEU and memory.

    python benchmarks/tiny.py [--threads 1] [--seed 1234]

The wall-clock time starts with the making of the corpus and ends with the last epoch.
The processor time is printed too, because other work on the machine does not lengthen
it.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

import torch

from transformer.multi_head import count_parameters
from transformer.training.config import TrainingConfig
from transformer.training.presets import (
    CorpusName,
    Preset,
    choose_device,
    load_corpus,
    make_data,
    make_trainer,
    number_words,
    recipe,
)
from transformer.training.progress import TerminalProgress
from transformer.translation.beams import SearchSettings
from transformer.translation.cache import CachedTransformer
from transformer.translation.evaluation import (
    detokenised_bleu,
    translate_pairs,
    tutorial_bleu,
)
from transformer.translation.inference import decode_step_cached


def peak_memory_gb() -> float:
    """Return the peak memory of this process, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main() -> None:
    """Train, translate the test set, and print the times, BLEU and memory."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=TrainingConfig.tiny().seed)
    options = parser.parse_args()
    device = choose_device("cpu", options.threads)
    wall, processor = time.perf_counter(), time.process_time()
    corpus = load_corpus(CorpusName.grammar, None)
    words = number_words(CorpusName.grammar, corpus)
    config = TrainingConfig.tiny(seed=options.seed)
    trainer = make_trainer(
        recipe(Preset.tiny), make_data(corpus, words, config, device), config, device
    )
    with TerminalProgress() as progress:
        trainer.run(progress)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"torch {torch.__version__}, {options.threads} thread(s), seed {config.seed}")
    print(f"{count_parameters(trainer.model):,} parameters, {config.epochs} epochs")
    print(f"{wall:.0f} s of wall time, {processor:.0f} s of processor time")
    cached = CachedTransformer(trainer.model, decode_step_cached)
    references = [pair.tgt for pair in corpus.test]
    for beam_size in (1, 4):
        settings = SearchSettings(beam_size)
        start = time.perf_counter()
        found = translate_pairs(cached, corpus.test, words, settings)
        seconds = time.perf_counter() - start
        print(f"beam {beam_size}: {len(found)} test sentences in {seconds:.1f} s")
        for score in (detokenised_bleu, tutorial_bleu):
            bleu = score(found, references)
            print(f"  BLEU {bleu.score:.2f} ({bleu.convention})")
    print(f"peak memory {peak_memory_gb():.2f} GB")


if __name__ == "__main__":
    main()
