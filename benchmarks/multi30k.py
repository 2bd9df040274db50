"""Evaluate trained models on Multi30k, and the contribution of each part of `best`.

    python -m transformer train --data multi30k --config best --out runs/best …
    python benchmarks/multi30k.py tutorial runs/tutorial_* [--data-dir DIR]
    python benchmarks/multi30k.py attention runs/attention [--data-dir DIR]
    python benchmarks/multi30k.py best runs/best [--data-dir DIR]
    python benchmarks/multi30k.py best-seeds runs/best_2 runs/best_3 [--data-dir DIR]
    python benchmarks/multi30k.py ablation [--epochs 6] [--data-dir DIR]

`tutorial` is trained with `--precision bfloat16` and the seeds 2, 3 and 4. The run with
the highest validation BLEU is chosen, with greedy search and the average of the last
epochs. `attention` and `seq2seq`, the recurrent models, are each trained once, with the
seed of their configuration. They are evaluated in the same way: the average, with
greedy search. (Rules and seeds were written down before any model was evaluated.) For
`best`, the checkpoint (best epoch or averaged) and the search are chosen on the
validation set. Only then is the chosen combination evaluated on the test set.
`best-seeds` evaluates runs of `best` with the seeds 2 and 3, in the same way. Each
command writes `benchmarks/results/multi30k_<name>.json`, including the log of the
training.
"""

import argparse
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torchtext.data import interleave_keys

from transformer.data import Corpus, SentencePair, make_batches
from transformer.data.whole_file import whole_file
from transformer.multi_head import count_parameters
from transformer.training.checkpoints import Checkpoint, load_checkpoint
from transformer.training.config import TrainingConfig
from transformer.training.loop import AVERAGED, BEST, LAST, mean_loss
from transformer.training.presets import (
    CorpusName,
    Preset,
    load_corpus,
    make_data,
    make_trainer,
    number_words,
    recipe,
)
from transformer.training.step import perplexity
from transformer.translation.beams import SearchSettings
from transformer.translation.evaluation import (
    detokenised_bleu,
    translate_pairs,
    tutorial_bleu,
)
from transformer.translation.fast import fast_translation

RESULTS = Path(__file__).parent / "results"
ONE_RULE = ("tutorial", "attention", "seq2seq")  # with the average and greedy search
AVERAGE = "average"
EPOCH_FILES = "epoch_*.pt"
GREEDY = SearchSettings(1)
SEARCHES = [GREEDY, *(SearchSettings(5, alpha) for alpha in (0.6, 1.0, 1.4))]
WITHOUT = {
    "label smoothing": ({"smoothing": 0.0}, {}),
    "warm-up (constant rate of 5e-4)": ({"warmup": 0, "rate": 5e-4}, {}),
    "tied target embedding": ({}, {"tie": "none"}),
    "more dropout (0.1 everywhere)": (
        {},
        {"dropout": 0.1, "attention_dropout": None, "ff_dropout": None},
    ),
    "sinusoidal positions (learned ones)": ({}, {"positions": "learned"}),
}


class Measure:
    """Evaluate models on Multi30k."""

    def __init__(self, folder: Path | None):
        """Read Multi30k from a folder, or download it."""
        self.corpus: Corpus = load_corpus(CorpusName.multi30k, folder)
        self.words = number_words(CorpusName.multi30k, self.corpus)

    def bleu(
        self, model: nn.Module, pairs: list[SentencePair], search: SearchSettings
    ) -> dict[str, Any]:
        """Compute the BLEU of a split's translations, in two conventions."""
        found = translate_pairs(
            model, pairs, self.words, search, 256, search=fast_translation
        )
        references = [pair.tgt for pair in pairs]
        tutorial = tutorial_bleu(found, references)
        sacre = detokenised_bleu(found, references)
        return {
            "beam_size": search.beam_size,
            "length_penalty": search.length_penalty,
            "tutorial_bleu": round(tutorial.score, 2),
            "sacrebleu_detokenised_lower_cased": round(sacre.score, 2),
            "signature": sacre.convention,
        }

    def loss(self, model: nn.Module, pairs: list[SentencePair]) -> dict[str, float]:
        """Compute a split's perplexity, and the perplexity that the tutorial computes.

        The tutorial's batches contain sentences of similar length, and the tutorial
        averages the losses of the batches. A token of a short sentence therefore has
        more weight than a token of a long sentence.
        """
        in_order = sorted(pairs, key=_torchtext_key)
        each = [
            mean_loss(model, [batch])
            for batch in make_batches(in_order, self.words, 128)
        ]
        token_mean = mean_loss(model, make_batches(pairs, self.words, 128))
        return {
            "perplexity": round(perplexity(token_mean), 3),
            "tutorial_perplexity": round(perplexity(sum(each) / len(each)), 3),
        }

    def greedily(self, model: nn.Module, pairs: list[SentencePair]) -> dict[str, Any]:
        """Compute a split's perplexity, and the BLEU of its greedy translations."""
        return {**self.loss(model, pairs), **self.bleu(model, pairs, GREEDY)}


def _torchtext_key(pair: SentencePair) -> int:
    """Return the key by which torchtext sorts a translation corpus."""
    return interleave_keys(len(pair.src), len(pair.tgt))


def describe(checkpoint: Checkpoint, model: nn.Module) -> dict[str, Any]:
    """Return facts about a model, its training, and the log of the training."""
    return {
        "torch": torch.__version__,
        "parameters": count_parameters(model),
        "model": checkpoint.model_config,
        "training": checkpoint.training_config,
        "log": [
            {name: round(value, 6) for name, value in record.items()}
            for record in checkpoint.history
        ],
    }


def measure_tutorial(measure: Measure, runs: list[Path]) -> dict[str, Any]:
    """Choose one of several runs on the validation set, and evaluate it.

    The runs differ in their seed. The run whose averaged weights have the highest
    validation BLEU is chosen. Only this run is evaluated on the test set, twice: with
    its averaged weights, and with the epoch that the tutorial would use. This is the
    epoch with the lowest validation loss, as the tutorial computes it, among the epochs
    that were kept (the last five, and the best).
    """
    tried, paths = [], {}
    for path in [path for run in runs for path in kept_weights(run)]:
        checkpoint = load_checkpoint(path)
        epoch = AVERAGE if path.name == AVERAGED else checkpoint.epoch
        key = (checkpoint.training_config["seed"], epoch)
        if key not in paths:
            paths[key] = path
            found = measure.greedily(checkpoint.build_model(), measure.corpus.valid)
            tried.append({"seed": key[0], "epoch": epoch, **found})
    averages = [one for one in tried if one["epoch"] == AVERAGE]
    chosen = max(averages, key=lambda one: one["tutorial_bleu"])
    epochs = [
        one for one in tried if one["seed"] == chosen["seed"] and one not in averages
    ]
    best_epoch = min(epochs, key=lambda one: one["tutorial_perplexity"])
    found = {"validation": tried, "chosen_on_validation": chosen}
    for name, one in (("best_epoch_test", best_epoch), ("test", chosen)):
        path = paths[one["seed"], one["epoch"]]
        model = load_checkpoint(path).build_model()
        found[name] = measure.greedily(model, measure.corpus.test)
    return {**found, **describe(load_checkpoint(path.parent / LAST), model)}


def kept_weights(run: Path) -> list[Path]:
    """Return the paths of a run's checkpoints: kept epochs, and the average."""
    epochs = [run / BEST, *sorted(run.glob(EPOCH_FILES)), run / LAST]
    return [path for path in (*epochs, run / AVERAGED) if path.exists()]


def measure_best(measure: Measure, run: Path) -> dict[str, Any]:
    """Choose a checkpoint and a search on the validation set, then evaluate them."""
    models = {
        name: load_checkpoint(run / file).build_model()
        for name, file in (("best epoch", BEST), ("averaged", AVERAGED))
    }
    tried = [
        {
            "weights": name,
            **measure.loss(model, measure.corpus.valid),
            **measure.bleu(model, measure.corpus.valid, search),
        }
        for name, model in models.items()
        for search in SEARCHES
    ]
    chosen = max(tried, key=lambda one: one["tutorial_bleu"])
    model = models[chosen["weights"]]
    search = SearchSettings(chosen["beam_size"], chosen["length_penalty"])
    return {
        "validation": tried,
        "chosen_on_validation": chosen,
        "test": {
            "weights": chosen["weights"],
            **measure.loss(model, measure.corpus.test),
            **measure.bleu(model, measure.corpus.test, search),
        },
        **describe(load_checkpoint(run / LAST), model),
    }


def measure_ablation(
    measure: Measure, epochs: int, only: list[str], runs: Path
) -> None:
    """Train `best` several times, each time without one of its parts.

    The first row is the complete recipe. Rows that the result file already contains are
    not trained again.
    """
    path, number = result_file("ablation"), str(epochs)
    for name, (training, sizes) in {"nothing": ({}, {}), **WITHOUT}.items():
        if name in known_rows(path).get(number, {}) or (only and name not in only):
            continue
        folder = runs / number / re.sub(r"\W+", "_", name)
        row = train_without(measure, epochs, training, sizes, folder)
        print(name, row, flush=True)
        rows = known_rows(path)
        rows.setdefault(number, {})[name] = row
        write_result(path, rows)


def known_rows(path: Path) -> dict[str, dict[str, Any]]:
    """Return the rows that the result file contains, by the number of epochs."""
    return json.loads(path.read_text()) if path.exists() else {}


def train_without(
    measure: Measure, epochs: int, training: dict, sizes: dict, folder: Path
) -> dict[str, Any]:
    """Train one row of the ablation; evaluate its best epoch on the validation set.

    `log` is the validation perplexity after each epoch.
    """
    changes = {"epochs": epochs, "average_last": 1, **training}
    config = TrainingConfig.best(**changes)
    device = torch.device("cpu")
    data = make_data(measure.corpus, measure.words, config, device)
    trainer = make_trainer(recipe(Preset.best), data, config, device, folder, **sizes)
    if (folder / LAST).exists():
        trainer.resume()
    history = trainer.run()
    best = load_checkpoint(folder / BEST)
    return {
        "parameters": count_parameters(trainer.model),
        "minutes": round(sum(record["seconds"] for record in history) / 60, 1),
        "epoch": best.epoch,
        "log": [round(perplexity(record["valid_loss"]), 3) for record in history],
        **measure.greedily(best.build_model(), measure.corpus.valid),
        "changed": {**training, **sizes},
        "training": asdict(config),
    }


def result_file(what: str) -> Path:
    """Return the path of a result."""
    return RESULTS / f"multi30k_{what}.json"


def write_result(path: Path, found: dict[str, Any]) -> None:
    """Write a result, and never an incomplete file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write((json.dumps(found, indent=1) + "\n").encode())


def main() -> None:
    """Evaluate what the options ask for, print the result, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=(*ONE_RULE, "best", "best-seeds", "ablation"))
    parser.add_argument("runs", type=Path, nargs="*", help="folders of checkpoints")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=6, help="of each ablation")
    parser.add_argument("--out", type=Path, default="runs/ablation", help="of its runs")
    parser.add_argument("--only", nargs="*", default=[], help="rows of the ablation")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    measure = Measure(options.data_dir)
    if options.what == "ablation":
        measure_ablation(measure, options.epochs, options.only, options.out)
        return
    path = result_file(options.what.replace("-", "_"))
    if options.what == "best":
        found = measure_best(measure, *options.runs)
    elif options.what == "best-seeds":
        measured = [measure_best(measure, run) for run in options.runs]
        found = known_rows(path) | {str(o["training"]["seed"]): o for o in measured}
    else:
        found = measure_tutorial(measure, options.runs)
    write_result(path, found)
    print(f"{path} is written")


if __name__ == "__main__":
    main()
