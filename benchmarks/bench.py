"""Measure all figures of the book's appendix in one run: `make bench`.

    python benchmarks/bench.py [--data-dir DIR] [--run runs/tutorial] [--threads 2]

The course is compared with references from PyPI: `nn.Transformer`, PyTorch's own
attention, decoding without a cache, sacreBLEU and stock nbgrader. The results are
written to `benchmarks/results/bench.json`. The sentences are Multi30k's, from
`--data-dir` or downloaded.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import attention
import grading
import sacrebleu
import torch
import training_step
import translation
from timing import alternate, machine

from transformer.training.checkpoints import load_checkpoint
from transformer.training.loop import BEST
from transformer.training.presets import CorpusName, load_corpus, number_words
from transformer.translation.bleu import corpus_bleu

RESULTS = Path(__file__).parent / "results" / "bench.json"
STEP_ROUNDS, ATTENTION_ROUNDS, BLEU_ROUNDS = 24, 400, 7
CLASS, STOCK = 100, 20
PARTS = ("attention", "training", "decoding", "bleu", "grading")


class Bench:
    """Hold the sentences and the model for the measurements."""

    def __init__(self, data_dir: Path | None, run: Path | None):
        """Read the corpus; `run` is the folder of a trained model, or None."""
        self.data_dir = data_dir
        self.corpus = load_corpus(CorpusName.multi30k, data_dir)
        self.words = number_words(CorpusName.multi30k, self.corpus)
        self.run = run

    def training(self) -> dict[str, Any]:
        """Compare training steps with those of `nn.Transformer`."""
        batches = training_step.real_batches(self.corpus, self.words, "cpu")
        found = training_step.measure(batches, STEP_ROUNDS)
        peaks = {
            f"peak_megabytes_{name}": round(
                training_step.peak_in_new_process(
                    name, training_step.which_sentences(self.data_dir)
                )
            )
            for name in ("course", "nn.Transformer")
        }
        return {
            **found.training.rounded(),
            "same_padding": found.same_padding.rounded(),
            "target_tokens_per_second": round(found.tokens_per_second),
            **peaks,
        }

    def attention(self) -> dict[str, Any]:
        """Compare attention, forward and backward, with PyTorch's math path."""
        return attention.measure(ATTENTION_ROUNDS).rounded()

    def decoding(self) -> dict[str, Any]:
        """Compare our translation of the test set with decoding without a cache."""
        if self.run:
            model = load_checkpoint(self.run / BEST).build_model()
        else:
            model = translation.trained_for_a_moment(self.corpus, self.words)
        found: dict[str, Any] = {
            name: translation.measure(
                model, self.corpus.test, self.words, settings
            ).rounded()
            for name, settings in translation.SEARCHES.items()
        }
        trained = f"the run {self.run.name}" if self.run else "150 steps"
        return {**found, "sentences": len(self.corpus.test), "model": trained}

    def bleu(self) -> dict[str, Any]:
        """Compare our BLEU with sacreBLEU's on the same tokens."""
        references = [list(pair.tgt) for pair in self.corpus.train[:10_000]]
        hypotheses = [words[:-1] for words in references]
        scores = {}

        def ours() -> None:
            scores["ours"] = corpus_bleu(hypotheses, references)

        def theirs() -> None:
            lines = [" ".join(words) for words in hypotheses]
            known = [" ".join(words) for words in references]
            scores["theirs"] = sacrebleu.corpus_bleu(
                lines, [known], tokenize="none", smooth_method="none", force=True
            ).score

        ratio = alternate(ours, theirs, BLEU_ROUNDS)
        if abs(scores["ours"] - scores["theirs"]) > 1e-6:
            raise SystemExit(f"the two BLEU scores disagree: {scores}")
        return {**ratio.rounded(), "sentences": len(references)}

    def grading(self) -> dict[str, Any]:
        """Compare the speed of the autograder with stock nbgrader."""
        return grading.measure_small("04", CLASS, STOCK)


def keep_others(here: dict[str, Any]) -> dict[str, Any]:
    """Read the results file, which must come from this machine.

    Raises:
        SystemExit: if the file was measured on another machine.
    """
    found = json.loads(RESULTS.read_text("utf-8"))
    for name, value in found["machine"].items():
        if name != "load_before" and here[name] != value:
            raise SystemExit(
                f"{RESULTS.name} holds another machine's figures ({name}: {value!r}, "
                f"here {here[name]!r}): leave out --only to measure all"
            )
    return found


def main() -> None:
    """Measure the chosen parts, print the figures, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, help="Multi30k; else it is fetched")
    parser.add_argument("--run", type=Path, help="folder of a trained model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--only", nargs="*", choices=PARTS, help="parts to measure anew, same machine"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found = keep_others(machine(options.threads)) if options.only else {}
    found.setdefault("machine", machine(options.threads))
    bench, begun = Bench(options.data_dir, options.run), time.monotonic()
    for name in options.only or PARTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        found[name] = getattr(bench, name)()
        print(json.dumps({name: found[name]}, indent=1), flush=True)
    if not options.only:
        found["minutes"] = round((time.monotonic() - begun) / 60, 1)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"written to {RESULTS.name}")


if __name__ == "__main__":
    main()
