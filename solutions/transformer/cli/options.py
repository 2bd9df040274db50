"""Options and output functions that the commands share."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from transformer.cli.last_words import may_speak
from transformer.data import Corpus, Vocabularies
from transformer.training.checkpoints import Checkpoint
from transformer.training.loop import AVERAGED, BEST, LAST
from transformer.training.presets import (
    CorpusName,
    load_corpus,
    load_subword_corpus,
    number_words,
)
from transformer.translation.beams import SearchSettings

console = Console()
problems = Console(stderr=True)


class Precision(StrEnum):
    """Number formats for matrix products."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class Weights(StrEnum):
    """The checkpoints that a training run writes."""

    best = "best"
    averaged = "averaged"
    last = "last"

    @property
    def file(self) -> str:
        """Return the name of the checkpoint's file in the run's folder."""
        return {"best": BEST, "averaged": AVERAGED, "last": LAST}[self.value]


Data = Annotated[
    CorpusName, typer.Option(help="Corpus; files: text files of your own.")
]
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
MaxLen = Annotated[
    int | None,
    typer.Option(
        help="Most tokens to write: 50 words, or 50 subwords more than were read."
    ),
]
MOST_WORDS = 50
USUAL_OUT = Path("runs") / "transformer"


def say(text: str) -> None:
    """Print a line without interpreting markup."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Print, on one line, an error that the user can correct, and exit with code 2."""
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        message = (
            "the GPU's memory is too small: train with a smaller --batch-size, "
            "translate with a smaller --beam-size"
        )
    except OSError as error:
        message = " ".join(in_words(error).split())
    except (ValueError, FloatingPointError) as error:
        message = " ".join(str(error).split())
    else:
        return
    if may_speak():
        text = f"Error: {message}"
        problems.print(text, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(2)


def in_words(error: OSError) -> str:
    """Return a system error as text that starts with the file and omits its number."""
    if error.filename is None or error.strerror is None:
        return error.strerror or str(error)
    return f"{error.filename}: {error.strerror}"


def read_corpus(
    name: CorpusName, folder: Path | None, subwords: int | None = None
) -> tuple[Corpus, Vocabularies]:
    """Make or read a corpus with its vocabularies, and print their sizes.

    Args:
        name: the corpus.
        folder: folder with the files of Multi30k.
        subwords: maximum number of shared subwords; None for whole words.
    """
    with console.status(f"reading {name.value}"):
        if subwords is not None:
            corpus, words = load_subword_corpus(name, folder, subwords)
        else:
            corpus = load_corpus(name, folder)
            words = number_words(name, corpus)
    sizes = " / ".join(f"{len(pairs):,}" for _, pairs in corpus.splits())
    say(f"{name.value}: {sizes} pairs, {describe_words(words)}")
    return corpus, words


def describe_words(words: Vocabularies) -> str:
    """Return a text that states the vocabulary sizes."""
    if words[0].subwords:
        return f"{len(words[0]):,} subwords that both sides share"
    return f"{len(words[0]):,} and {len(words[1]):,} words"


def weights_of(run: Path, weights: Weights) -> Path:
    """Return the path of a run's weights.

    Raises:
        ValueError: if the averaged weights are asked for and the run has none.
    """
    path = run / weights.file
    if weights is Weights.averaged and not path.exists() and (run / LAST).exists():
        raise ValueError(
            f"{run} holds no average of its last epochs, which not every --config "
            "keeps: give --weights best"
        )
    return path


def search_settings(
    beam_size: int, length_penalty: float, max_len: int | None
) -> SearchSettings:
    """Return the search settings, by default with the maximum length for words."""
    limit = MOST_WORDS if max_len is None else max_len
    return SearchSettings(beam_size, length_penalty, limit)


def with_room(
    settings: SearchSettings, max_len: int | None, checkpoint: Checkpoint, longest: int
) -> SearchSettings:
    """Return search settings that leave enough length for subwords.

    A maximum length that the user has set is kept.

    Args:
        settings: settings of the search.
        max_len: the maximum length that the user has set, or None.
        checkpoint: the model's checkpoint. Its number of positions limits the length.
        longest: number of tokens of the longest source sentence.
    """
    if max_len is not None or checkpoint.subwords is None:
        return settings
    positions = checkpoint.model_config.get("max_len", sys.maxsize)
    return replace(settings, max_len=min(longest + MOST_WORDS, positions))
