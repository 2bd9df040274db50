"""The command `train`: train a model, and validate and save it after each epoch."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from transformer.cli.last_words import ending_together, may_speak
from transformer.cli.options import (
    USUAL_OUT,
    Data,
    DataDir,
    Device,
    Out,
    Precision,
    Threads,
    console,
    one_line_errors,
    say,
)
from transformer.cli.own_files import (
    DataOptions,
    Src,
    SubwordCount,
    Test,
    Tgt,
    Valid,
    name_texts,
    read_training_data,
)
from transformer.multi_head import count_parameters
from transformer.training.config import TrainingConfig
from transformer.training.distributed import Processes, join_processes
from transformer.training.loop import BEST, LAST, Trainer
from transformer.training.models import ModelName
from transformer.training.presets import (
    CorpusName,
    Preset,
    Recipe,
    choose_device,
    make_trainer,
    recipe,
    usual_preset,
)
from transformer.training.progress import TerminalProgress

Model = Annotated[
    ModelName,
    typer.Option(help="Recurrent without and with attention, or the Transformer."),
]
Config = Annotated[
    Preset | None, typer.Option(help="Sizes and training; by the corpus if not given.")
]
Epochs = Annotated[int | None, typer.Option(help="Epochs in all.")]
BatchSize = Annotated[int | None, typer.Option(help="Pairs in a batch.")]
EpochSteps = Annotated[
    int | None, typer.Option(help="Batches to take from each epoch; else all.")
]
Seed = Annotated[int | None, typer.Option(help="Of weights, dropout, order.")]
Numbers = Annotated[
    Precision | None, typer.Option(help="Of the matrix products in training.")
]
Fused = Annotated[
    bool | None, typer.Option("--fused", help="Attention by fused kernels.")
]
Compile = Annotated[bool | None, typer.Option("--compile", help="Use torch.compile.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from the last checkpoint in --out.")
]


def train(
    model: Model = ModelName.transformer,
    data: Data = CorpusName.grammar,
    data_dir: DataDir = None,
    src: Src = None,
    tgt: Tgt = None,
    valid: Valid = None,
    test: Test = None,
    subwords: SubwordCount = None,
    config: Config = None,
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    epoch_steps: EpochSteps = None,
    seed: Seed = None,
    precision: Numbers = None,
    fused: Fused = None,
    compile: Compile = None,
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    resume: Resume = False,
) -> None:
    """Train a model; after every epoch it is measured and kept in --out.

    Four processes share the work: torchrun --nproc-per-node 4 -m transformer train …
    """
    preset = config or usual_preset(model, data)
    with one_line_errors():
        chosen = recipe(preset, model)
        refuse_for_recurrent(model, {"--fused": fused, "--compile": compile})
        changes = (epochs, batch_size, epoch_steps, seed, precision, fused, compile)
        training = choose_training(chosen, *changes)
        texts = name_texts(data, (src, tgt), valid, test, resume)
        check_folder(out, resume)
        options = DataOptions(data, data_dir, texts, subwords)
        with processes_of_run(device, out) as processes:
            place = choose_device(processes.device, threads)
            trainer = read_and_make(options, chosen, training, place, out, processes)
            say(f"{model.value}, {preset.value}: {describe(trainer)}")
            run_training(trainer, out, resume)


def refuse_for_recurrent(model: ModelName, options: Mapping[str, bool | None]) -> None:
    """Raise ValueError if a recurrent model gets options of the Transformer."""
    for option, value in options.items():
        if model.is_recurrent and value:
            raise ValueError(
                f"{option} is for the Transformer alone: leave it out with --model "
                f"{model.value}"
            )


def choose_training(
    chosen_recipe: Recipe,
    epochs: int | None,
    batch_size: int | None,
    epoch_steps: int | None,
    seed: int | None,
    precision: Precision | None,
    fused: bool | None,
    compile: bool | None,
) -> TrainingConfig:
    """Return a recipe's training configuration with the changes that are not None."""
    changes = {
        "epochs": epochs,
        "batch_size": batch_size,
        "epoch_steps": epoch_steps,
        "seed": seed,
        "precision": precision and precision.value,
        "fused": fused,
        "compile": compile,
    }
    if batch_size is not None:
        changes["batch_tokens"] = None  # an explicit batch size counts pairs
    given = {k: v for k, v in changes.items() if v is not None or k == "batch_tokens"}
    return chosen_recipe.training(**given)


def check_folder(folder: Path, resume: bool) -> None:
    """Check that a new run overwrites no older one, and that a run to resume exists.

    Also refuse a folder that is not writable, because otherwise the run would fail only
    after its first epoch.

    Raises:
        ValueError: if the folder cannot be used.
    """
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not place.is_dir():
        raise ValueError(f"--out is to be a folder: {place} is a file")
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise ValueError(
            f"--out cannot be written: {folder} ({error.strerror})"
        ) from error
    there = (folder / LAST).exists()
    if there and not resume:
        raise ValueError(
            f"{folder} holds the checkpoint of a run: give --resume to go on with it, "
            "or another folder as --out"
        )
    if resume and not there:
        raise ValueError(f"there is no checkpoint {folder / LAST} to resume from")


@contextmanager
def processes_of_run(device: str, folder: Path) -> Iterator[Processes]:
    """Join the processes that torchrun started, if any; only the first one prints."""
    processes = join_processes(device)
    console.quiet = not processes.is_first
    with ending_together(processes, partial(say_stopped, processes, folder)):
        yield processes
    processes.leave()


def read_and_make(
    options: DataOptions,
    chosen: Recipe,
    training: TrainingConfig,
    place: torch.device,
    out: Path,
    processes: Processes,
) -> Trainer:
    """Read the training data, and make the trainer."""
    batches = read_training_data(options, chosen, training, place, out, processes)
    return make_trainer(chosen, batches, training, place, out, processes)


def describe(trainer: Trainer) -> str:
    """Return a text with the model's size and its device."""
    size = f"{count_parameters(trainer.model):,} parameters"
    if trainer.processes.count == 1:
        return f"{size} on {trainer.device}"
    kind = trainer.device.type
    return f"{size} on {kind}, shared by {trainer.processes.count} processes"


def run_training(trainer: Trainer, folder: Path, resume: bool) -> None:
    """Train until the last epoch, from a checkpoint if the run is resumed."""
    folder.mkdir(parents=True, exist_ok=True)
    if resume:
        trainer.resume()
        say(f"going on after epoch {trainer.epoch}")
    with TerminalProgress(console) as progress:
        trainer.run(progress)
    say(f"done: {folder / BEST} is the best epoch's")


def say_stopped(processes: Processes, folder: Path) -> None:
    """Print which checkpoint a stopped run keeps, unless another process reports it."""
    if not may_speak():
        return
    why = "stopped"
    if processes.count > 1:
        why += f", as torchrun was or another of the {processes.count} processes"
    if (folder / LAST).exists():
        done = f"the last whole epoch is in {folder}; go on with --resume"
    else:
        done = "no epoch was over, so nothing is kept"
    console.quiet = False
    say(f"{why}; {done}")
