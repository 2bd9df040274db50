"""What the commands share: options, and how they speak to the user."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from transformer.data import Corpus, Vocabularies
from transformer.training.loop import AVERAGED, BEST, LAST
from transformer.training.presets import CorpusName, load_corpus, number_words

console = Console()
problems = Console(stderr=True)


class Precision(StrEnum):
    """The numbers that matrix products are computed with."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class Weights(StrEnum):
    """The checkpoints that a training run leaves."""

    best = "best"
    averaged = "averaged"
    last = "last"

    @property
    def file(self) -> str:
        """Name of the file in the run's folder."""
        return {"best": BEST, "averaged": AVERAGED, "last": LAST}[self.value]


class Split(StrEnum):
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


def read_corpus(name: CorpusName, folder: Path | None) -> tuple[Corpus, Vocabularies]:
    """Make or read a corpus with its vocabularies, and say how large they are."""
    with console.status(f"reading {name.value}"):
        corpus = load_corpus(name, folder)
        words = number_words(name, corpus)
    sizes = " / ".join(f"{len(pairs):,}" for _, pairs in corpus.splits())
    say(f"{name.value}: {sizes} pairs, {len(words[0]):,} and {len(words[1]):,} words")
    return corpus, words
