"""The command line: `python -m transformer train|evaluate|translate`."""

import contextlib
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from transformer.checkpoints import (
    Vocabularies,
    load_checkpoint,
    require_same_words,
)
from transformer.data import Corpus, make_batches
from transformer.evaluation import detokenised_bleu, translate_pairs, tutorial_bleu
from transformer.fast_search import fast_translation
from transformer.inference import Translation, translate
from transformer.multi_head import count_parameters
from transformer.presets import (
    TRAININGS,
    USUAL_PRESET,
    CorpusName,
    Preset,
    choose_device,
    load_corpus,
    make_data,
    make_trainer,
    number_words,
)
from transformer.progress import TerminalProgress
from transformer.search import SearchSettings
from transformer.trainer import AVERAGED, BEST, LAST, Trainer, mean_loss
from transformer.training import perplexity

app = typer.Typer(
    help="Train a Transformer, measure it, and translate with it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
problems = Console(stderr=True)


class Precision(str, Enum):
    """The numbers that matrix products are computed with."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class Weights(str, Enum):
    """The checkpoints that a training run leaves."""

    best = "best"
    averaged = "averaged"
    last = "last"

    @property
    def file(self) -> str:
        """Name of the file in the run's folder."""
        return {"best": BEST, "averaged": AVERAGED, "last": LAST}[self.value]


class Split(str, Enum):
    """The parts of a corpus that a model is measured on."""

    valid = "valid"
    test = "test"


Data = Annotated[CorpusName, typer.Option(help="Corpus.")]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder of Multi30k's files; else they are fetched.")
]
Device = Annotated[
    str, typer.Option(help="cpu, cuda, … ; auto takes a GPU if there is one.")
]
Threads = Annotated[
    int, typer.Option(help="CPU threads; on busy cores one is the fastest.")
]
Out = Annotated[Path, typer.Option(help="Folder of the checkpoints.")]
Which = Annotated[
    Weights, typer.Option(help="best: of the best epoch; averaged: of the last ones.")
]
BeamSize = Annotated[int, typer.Option(help="Hypotheses kept; 1 is greedy.")]
Alpha = Annotated[float, typer.Option(help="Length penalty of the beam search.")]
MaxLen = Annotated[int, typer.Option(help="Most tokens to write.")]
USUAL_OUT = Path("runs") / "transformer"


def say(text: str) -> None:
    """Print a line as it is."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what the user can mend into one line and exit code 2."""
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        message = (
            "the GPU's memory is too small: train with a smaller --batch-size, "
            "translate with a smaller --beam-size"
        )
    except (ValueError, OSError, FloatingPointError) as error:
        message = " ".join(str(error).split())
    else:
        return
    problems.print(f"Error: {message}", style="red", markup=False, soft_wrap=True)
    raise typer.Exit(2)


@app.command()
def train(
    data: Data = CorpusName.grammar,
    data_dir: DataDir = None,
    config: Annotated[
        Preset | None,
        typer.Option(help="Model and training; by the corpus if not given."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs in all.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Pairs in a batch.")] = None,
    epoch_steps: Annotated[
        int | None, typer.Option(help="Batches to take from each epoch; else all.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of weights, dropout, order.")
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Of the matrix products in training.")
    ] = None,
    fused: Annotated[
        bool | None, typer.Option("--fused", help="Attention by fused kernels.")
    ] = None,
    compile: Annotated[
        bool | None, typer.Option("--compile", help="Use torch.compile.")
    ] = None,
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint in --out.")
    ] = False,
) -> None:
    """Train a model; after every epoch it is measured and kept in --out."""
    preset = config or USUAL_PRESET[data]
    changes = {
        "epochs": epochs,
        "batch_size": batch_size,
        "epoch_steps": epoch_steps,
        "seed": seed,
        "precision": precision.value if precision else None,
        "fused": fused,
        "compile": compile,
    }
    with one_line_errors():
        chosen = {name: value for name, value in changes.items() if value is not None}
        if batch_size is not None:
            chosen["batch_tokens"] = None  # pairs are counted, and not tokens
        training = TRAININGS[preset](**chosen)
        check_folder(out, resume)
        place = choose_device(device, threads)
        corpus, words = read_corpus(data, data_dir)
        batches = make_data(corpus, words, training, place)
        trainer = make_trainer(preset, batches, training, place, out)
        n_parameters = count_parameters(trainer.model)
        say(f"{preset.value}: {n_parameters:,} parameters on {place}")
        out.mkdir(parents=True, exist_ok=True)
        run_training(trainer, resume)


def read_corpus(name: CorpusName, folder: Path | None) -> tuple[Corpus, Vocabularies]:
    """Make or read a corpus with its vocabularies, and say how large they are."""
    with console.status(f"reading {name.value}"):
        corpus = load_corpus(name, folder)
        words = number_words(name, corpus)
    sizes = " / ".join(f"{len(pairs):,}" for _, pairs in corpus.splits())
    say(f"{name.value}: {sizes} pairs, {len(words[0]):,} and {len(words[1]):,} words")
    return corpus, words


def check_folder(folder: Path, resume: bool) -> None:
    """Keep a new run from taking the place of an older one, and find that one."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out is to be a folder: {folder} is a file")
    there = (folder / LAST).exists()
    if there and not resume:
        raise ValueError(
            f"{folder} holds the checkpoint of a run: give --resume to go on with it, "
            "or another folder as --out"
        )
    if resume and not there:
        raise ValueError(f"there is no checkpoint {folder / LAST} to resume from")


def run_training(trainer: Trainer, resume: bool) -> None:
    """Train to the end, or until the user stops it."""
    if resume:
        trainer.resume()
        say(f"going on after epoch {trainer.epoch}")
    try:
        with TerminalProgress(console) as progress:
            trainer.run(progress)
    except KeyboardInterrupt:
        if (trainer.folder / LAST).exists():
            done = f"the last whole epoch is in {trainer.folder}; go on with --resume"
        else:
            done = "no epoch was over, so nothing is kept"
        say(f"stopped; {done}")
        raise typer.Exit(130) from None
    say(f"done: {trainer.folder / BEST} is the best epoch's")


@app.command()
def evaluate(
    data: Data = CorpusName.grammar,
    data_dir: DataDir = None,
    split: Annotated[Split, typer.Option(help="Part of the corpus.")] = Split.test,
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    beam_size: BeamSize = 1,
    length_penalty: Alpha = 0.6,
    max_len: MaxLen = 50,
    weights: Which = Weights.best,
) -> None:
    """Print perplexity and BLEU of a checkpoint, each with its convention."""
    with one_line_errors():
        settings = SearchSettings(beam_size, length_penalty, max_len)
        place = choose_device(device, threads)
        checkpoint = load_checkpoint(out / weights.file)
        corpus, words = read_corpus(data, data_dir)
        require_same_words(out / weights.file, checkpoint.vocabularies(), words)
        model = checkpoint.build_model(place)
        pairs = getattr(corpus, split.value)
        loss = mean_loss(model, make_batches(pairs, words, 128, device=place))
        report_perplexity(loss, split, len(pairs))
        with console.status("translating"):
            translations = translate_pairs(
                model, pairs, words, settings, search=fast_translation
            )
        references = [pair.tgt for pair in pairs]
        search = "greedy" if beam_size == 1 else f"beam {beam_size}, α {length_penalty}"
        for score in (tutorial_bleu, detokenised_bleu):
            bleu = score(translations, references)
            say(f"BLEU        {bleu.score:6.2f}  ({search}; {bleu.convention})")


def report_perplexity(loss: float, split: Split, n_pairs: int) -> None:
    """Print a loss as a perplexity, and how it was counted."""
    say(f"{split.value}: {n_pairs:,} sentences")
    say(
        f"perplexity  {perplexity(loss):6.3f}  (exp of the mean cross-entropy "
        f"{loss:.3f} per target token, <eos> included, no label smoothing)"
    )


@app.command(name="translate")
def translate_command(
    sentence: Annotated[str, typer.Argument(help="A German sentence.")],
    attention: Annotated[
        Path | None, typer.Option(help="Image to draw the heads' attention into.")
    ] = None,
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    beam_size: BeamSize = 4,
    length_penalty: Alpha = 0.6,
    max_len: MaxLen = 50,
    weights: Which = Weights.best,
) -> None:
    """Print the translation of a sentence; draw the last layer's heads if asked."""
    with one_line_errors():
        settings = SearchSettings(beam_size, length_penalty, max_len)
        place = choose_device(device, threads)
        checkpoint = load_checkpoint(out / weights.file)
        words = checkpoint.vocabularies()
        found = translate(checkpoint.build_model(place), sentence, words, settings)
        typer.echo(found.text)
        if attention is not None:
            draw_attention(found, attention)


def draw_attention(found: Translation, path: Path) -> None:
    """Draw the heads of the last layer into an image file."""
    from transformer.plots.attention_heads import attention_heads

    picture = attention_heads(
        found.cross_attention[-1].cpu(),
        found.target,
        found.source,
        "Cross-attention of the last layer's heads",
    )
    try:
        picture.savefig(path)
    except ValueError as error:
        raise ValueError(f"cannot draw into {path}: {error}") from error
