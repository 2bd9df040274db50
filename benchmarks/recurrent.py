"""Measure the numbers of chapter 01 about recurrent translators.

    python benchmarks/recurrent.py reversal
    python benchmarks/recurrent.py grammar

`reversal` trains translators to write sequences backwards, for several widths and
numbers of steps. They have no attention, but the smallest width is also trained with
attention. The result is the share of right words by length.

`grammar` trains the three translators of the command line on the grammar corpus, each
in its `tiny` configuration. The results are BLEU by length, the time of a step and the
number of parameters. Each command writes `results/recurrent_<name>.json` row by row,
and does not train existing rows again.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import torch

from transformer.data import EOS, SOS_ID, Corpus, Vocabularies, make_reversal_pairs
from transformer.data.whole_file import whole_file
from transformer.experiments.fitting import FitSettings
from transformer.experiments.recurrent.tasks import accuracy_by_length, train_reversal
from transformer.experiments.report import bleu_by_length
from transformer.multi_head import count_parameters
from transformer.recurrent.attention import (
    AdditiveAttention,
    AttentionSeq2Seq,
    shift_right,
)
from transformer.recurrent.seq2seq import RecurrentTranslator, Seq2Seq
from transformer.training.models import ModelName
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
from transformer.training.progress import Silence, StepReport
from transformer.translation.beams import SearchSettings
from transformer.translation.bleu import corpus_bleu
from transformer.translation.evaluation import translate_pairs
from transformer.translation.fast import fast_translation

RESULTS = Path(__file__).with_name("results")
WIDTHS, STEPS = (48, 96, 192), (400, 1000, 2000, 4000)
GREEDY = SearchSettings(1)
N_SYMBOLS, LONGEST = 16, 12
LIMITS = (6, 8, 10)  # limits of groups by source words: up to 6, 7 or 8, 9 or 10, more


def reversal_row(attention: bool, width: int, steps: int) -> dict[str, Any]:
    """Train one translator as in the chapter; evaluate it on 2,000 new sequences."""
    start = time.process_time()
    torch.manual_seed(0)
    n_words = 4 + N_SYMBOLS
    look = AdditiveAttention(width, width, width)  # always, for equal seeds
    model: RecurrentTranslator = Seq2Seq(n_words, n_words, width)
    if attention:
        model = AttentionSeq2Seq(n_words, n_words, look, width)
    src, tgt = make_reversal_pairs(20_000, LONGEST, N_SYMBOLS, seed=0, min_length=2)
    tgt = tgt[:, 1:]
    train_reversal(model, src, shift_right(tgt, SOS_ID), tgt, FitSettings(steps=steps))
    src, tgt = make_reversal_pairs(2000, LONGEST, N_SYMBOLS, seed=1, min_length=2)
    shares = accuracy_by_length(model, src, tgt[:, 1:])
    return {
        "attention": attention,
        "width": width,
        "steps": steps,
        "seconds": round(time.process_time() - start, 1),
        "accuracy": {str(length): round(s, 4) for length, s in shares.items()},
    }


class StepTimes(Silence):
    """Record how long each step takes, in processor time."""

    def __init__(self) -> None:
        """Start with an empty list."""
        self.seconds: list[float] = []

    def start_epoch(self, number: int, steps: int) -> None:
        """Start the clock."""
        self.last = time.process_time()

    def end_step(self, report: StepReport) -> None:
        """Record the step's time, and restart the clock."""
        now = time.process_time()
        self.seconds.append(now - self.last)
        self.last = now


def grammar_row(name: ModelName, corpus: Corpus, words: Vocabularies) -> dict[str, Any]:
    """Train one of the models on the grammar corpus; evaluate it on the test set."""
    device = torch.device("cpu")
    chosen = recipe(Preset.tiny, name)
    config = chosen.training()
    data = make_data(corpus, words, config, device)
    trainer, times = make_trainer(chosen, data, config, device), StepTimes()
    trainer.run(times)
    written = [
        [word for word in one if word != EOS]
        for one in translate_pairs(
            trainer.model, corpus.test, words, GREEDY, search=fast_translation
        )
    ]
    sources, wanted = zip(*[(p.src, p.tgt) for p in corpus.test], strict=True)
    groups = bleu_by_length(sources, written, wanted, LIMITS)
    return {
        "model": name.value,
        "parameters": count_parameters(trainer.model),
        "milliseconds_a_step": round(1000 * median(times.seconds), 1),
        "steps": len(times.seconds),
        "valid_loss": [round(one["valid_loss"], 4) for one in trainer.history],
        "bleu": round(corpus_bleu(written, wanted), 2),
        "by_length": [[n, bleu and round(bleu, 2)] for n, bleu in groups],
        "limits": LIMITS,
        "training": asdict(config),
        "torch": torch.__version__,
    }


def measure_reversal(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the missing rows of `reversal`, the fastest first."""
    there = {(row["attention"], row["width"], row["steps"]) for row in rows}
    kinds = [(True, WIDTHS[0]), *((False, width) for width in WIDTHS)]
    for steps, (attention, width) in product(STEPS, kinds):
        if (attention, width, steps) not in there:
            yield reversal_row(attention, width, steps)


def measure_grammar(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the missing rows of `grammar`."""
    corpus = load_corpus(CorpusName.grammar, None)
    words = number_words(CorpusName.grammar, corpus)
    for name in ModelName:
        if name.value not in {row["model"] for row in rows}:
            yield grammar_row(name, corpus, words)


def main() -> None:
    """Measure the missing rows, and write each as soon as it is measured."""
    measures = {"reversal": measure_reversal, "grammar": measure_grammar}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=measures)
    options = parser.parse_args()
    choose_device("cpu")
    path = RESULTS / f"recurrent_{options.what}.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    for row in measures[options.what](rows):
        print(row, flush=True)
        rows.append(row)
        with whole_file(path) as file:
            file.write((json.dumps(rows, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
