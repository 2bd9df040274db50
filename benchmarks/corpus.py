"""Measure how long it takes to make the grammar corpus: `python benchmarks/corpus.py`.

Print the shortest time of several runs, each of which makes the whole corpus.
"""

import argparse
import time

from transformer.data import make_grammar_corpus
from transformer.data.word_counts import build_vocabularies


def measure(runs: int) -> tuple[float, float]:
    """Return the shortest wall-clock and processor times of the runs, in seconds."""
    walls, processors = [], []
    for _ in range(runs):
        make_grammar_corpus.cache_clear()
        wall, processor = time.perf_counter(), time.process_time()
        make_grammar_corpus()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def main() -> None:
    """Print the times, and the size of the corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="default: %(default)s")
    wall, processor = measure(parser.parse_args().runs)
    corpus = make_grammar_corpus()
    sizes = " / ".join(f"{len(pairs):,}" for _, pairs in corpus.splits())
    src, tgt = build_vocabularies(corpus.train)
    print(f"grammar corpus   {wall:.2f} s ({processor:.2f} s of processor time)")
    print(f"pairs            {sizes} (training / validation / test)")
    print(f"words            {len(src)} German, {len(tgt)} English, specials included")


if __name__ == "__main__":
    main()
