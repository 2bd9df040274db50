"""Options for training and evaluating on the user's own text files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import typer

from transformer.cli.options import console, describe_words, read_corpus, say
from transformer.own_files.batches import FileBatches
from transformer.own_files.prepare import (
    Prepared,
    load_prepared,
    prepare,
    require_same_files,
)
from transformer.own_files.text import PairedText, require_different_files
from transformer.training.config import TrainingConfig
from transformer.training.distributed import Processes
from transformer.training.loop import LAST, TrainingData
from transformer.training.presets import (
    USUAL_SUBWORDS,
    CorpusName,
    Recipe,
    make_data,
)

POSITIONS = 256  # maximum tokens of a sentence, if the model sets no limit
TwoFiles = tuple[Path, Path]
Src = Annotated[
    Path | None,
    typer.Option(help="With --data files: text, a sentence a line, or a .gz of it."),
]
Tgt = Annotated[
    Path | None, typer.Option(help="Its translation, line by line: --tgt train.en")
]
Valid = Annotated[
    TwoFiles | None,
    typer.Option(metavar="SRC TGT", help="Two files: --valid valid.de valid.en"),
]
Test = Annotated[
    TwoFiles | None,
    typer.Option(metavar="SRC TGT", help="Two files more, kept for evaluate."),
]
SubwordCount = Annotated[
    int | None,
    typer.Option(
        "--subwords", help="Pieces of words that both sides share; at most so many."
    ),
]


@dataclass(frozen=True)
class DataOptions:
    """Hold the options that select the training data.

    Attributes:
        name: the corpus.
        folder: folder with Multi30k's files.
        texts: the user's own files for each part; empty for another corpus.
        subwords: number of subwords, or None if the user did not set it.
    """

    name: CorpusName
    folder: Path | None
    texts: dict[str, PairedText]
    subwords: int | None


def name_texts(
    data: CorpusName,
    train: tuple[Path | None, Path | None],
    valid: TwoFiles | None,
    test: TwoFiles | None,
    resume: bool,
) -> dict[str, PairedText]:
    """Return the user's text files by part of the corpus.

    Raises:
        ValueError: if a file is missing or occurs twice, or if files are given for
            another corpus.
    """
    given = {"train": train, "valid": valid or (None, None)}
    given["test"] = test or (None, None)
    if data is not CorpusName.files:
        if any(path for pair in given.values() for path in pair):
            raise ValueError("--src, --tgt, --valid and --test go with --data files")
        return {}
    if resume and not any(path for pair in given.values() for path in pair):
        return {}
    missing = {"--src": train[0], "--tgt": train[1], "--valid SRC TGT": valid}
    names = [name for name, path in missing.items() if not path]
    if names:
        raise ValueError(f"--data files needs files: {' and '.join(names)} missing")
    texts = {
        part: PairedText(src, tgt) for part, (src, tgt) in given.items() if src and tgt
    }
    require_different_files(texts.values())
    return texts


def read_training_data(
    options: DataOptions,
    recipe: Recipe,
    training: TrainingConfig,
    device: torch.device,
    run: Path,
    processes: Processes,
) -> TrainingData:
    """Make or read the training data, print its size, and group it into batches.

    With several processes, the first one downloads or writes the data for the others.
    """
    size = recipe.subwords if options.subwords is None else options.subwords
    if options.name is not CorpusName.files:
        with processes.first_before_others():
            corpus, words = read_corpus(options.name, options.folder, size)
        return make_data(corpus, words, training, device)
    size = USUAL_SUBWORDS if size is None else size
    with processes.first_before_others():
        begun = (run / LAST).exists() or not processes.is_first
        prepared = read_files(options.texts, run, size, recipe, begun)
    train = FileBatches(
        prepared.parts["train"],
        training.batch_tokens or training.batch_size,
        device=device,
        seed=training.seed,
        by_tokens=training.batch_tokens is not None,
    )
    valid = FileBatches(prepared.parts["valid"], training.batch_size, device=device)
    return TrainingData(train, valid, prepared.vocabularies())


def read_files(
    texts: dict[str, PairedText], run: Path, size: int, recipe: Recipe, begun: bool
) -> Prepared:
    """Prepare text files for a new run, or load those of a run that has begun."""
    if begun:
        prepared = load_prepared(run)
        require_same_files(texts, run)
    else:
        sizes = recipe.sizes(USUAL_SUBWORDS, USUAL_SUBWORDS)
        longest = getattr(sizes, "max_len", POSITIONS)
        with console.status("reading the files"):
            prepared = prepare(texts, run, size, longest)
    lengths = " / ".join(f"{len(part):,}" for part in prepared.parts.values())
    say(f"files: {lengths} pairs, {describe_words(prepared.vocabularies())}")
    for part, lines in prepared.left_out.items():
        if lines:
            say(
                f"{part}: left out as too long for the model: {len(lines):,} of the "
                f"pairs, that of line {lines[0]:,} first"
            )
    return prepared
