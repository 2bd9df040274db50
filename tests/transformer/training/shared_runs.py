"""Small runs in one process or several, and a program that torchrun starts."""

import dataclasses
import json
import sys
from functools import partial
from pathlib import Path

import torch
from small_runs import CONFIG, make_trainer
from torch import distributed

from transformer.data import make_batches, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.recurrent.bidirectional import BidirectionalTranslator
from transformer.recurrent.config import RecurrentConfig
from transformer.training.config import TrainingConfig
from transformer.training.distributed import ALONE, Processes, join_processes
from transformer.training.loop import Trainer, TrainingData
from transformer.training.progress import Silence

ONE_EPOCH = dataclasses.replace(CONFIG, epochs=1)
SURE = {"dropout": 0.0}
CHANGES = {
    "plain": {},
    "parts": {"accumulate": 3, "fused": True},
    "compiled": {"accumulate": 3, "compile": True},
    "clipped": {"max_norm": 0.05},
}


class Losses(Silence):
    """Record the loss of every step."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def end_step(self, report) -> None:
        self.found.append(report.loss)


def recurrent(config: TrainingConfig, processes: Processes) -> Trainer:
    pairs = make_grammar_corpus().train[:100]
    words = build_vocabularies(pairs)
    data = TrainingData(
        make_batches(pairs, words, 16, seed=1), make_batches(pairs, words, 16), words
    )
    shape = RecurrentConfig.tiny(*map(len, words), attention=False, dropout=0.0)
    torch.manual_seed(0)
    return Trainer(BidirectionalTranslator(shape), data, config, processes=processes)


def trainers(processes: Processes = ALONE) -> dict[str, Trainer]:
    """Return a trainer of every kind, with more than 20 steps and no randomness."""
    make = partial(make_trainer, processes=processes, **SURE)
    kinds = {
        name: make(config=dataclasses.replace(CONFIG, **changes))
        for name, changes in CHANGES.items()
    }
    # One process has two of three sentences, in two parts, and the other has one.
    small = dataclasses.replace(CONFIG, batch_size=3, epochs=2, accumulate=4)
    kinds["one sentence at the end"] = make(config=small, pairs=slice(0, 31))
    kinds["tied"] = make(tie="target")
    kinds["recurrent"] = recurrent(CONFIG, processes)
    return kinds


def follow(trainer: Trainer) -> list[float]:
    """Train, and return the loss of each step and the validation loss of each epoch."""
    losses = Losses()
    history = trainer.run(losses)
    return losses.found + [record["valid_loss"] for record in history]


def differing(trainer: Trainer) -> list[str]:
    """Name the parameters that differ from those of the first process."""
    names = []
    for name, value in trainer.model.state_dict().items():
        theirs = value.clone()
        distributed.broadcast(theirs, 0)
        if not torch.equal(value, theirs):
            names.append(name)
    return names


def main(folder: Path) -> None:
    """Train all kinds of runs, and write the results of each process."""
    torch.compile = partial(torch.compile, backend="eager")  # others are slow
    processes = join_processes("cpu")
    found: dict[str, object] = {"differing": {}}
    for name, trainer in trainers(processes).items():
        found[name] = follow(trainer)
        found["differing"][name] = differing(trainer)
    make = partial(make_trainer, processes=processes)
    own = folder / f"by {processes.rank}"
    make(own, ONE_EPOCH, **SURE).run()
    begun_alone = make(folder / "alone", **SURE)
    begun_alone.resume()
    found["begun alone"] = begun_alone.run()
    found["with dropout"] = make().run()
    make(folder / "stopped", ONE_EPOCH).run()
    distributed.barrier()  # the file exists
    stopped = make(folder / "stopped")
    stopped.resume()
    found["stopped"] = stopped.run()
    (folder / f"{processes.rank}.json").write_text(json.dumps(found))
    processes.leave()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
