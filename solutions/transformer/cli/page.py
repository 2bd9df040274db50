"""The command `page`: export a trained model for the book's live translator."""

from pathlib import Path
from typing import Annotated

import typer

from transformer.cli.options import Weights, Which, one_line_errors, say
from transformer.training.checkpoints import Checkpoint, load_checkpoint
from transformer.training.page_file import save_page_file

FILE = "page.safetensors"


def page(
    run: Annotated[Path, typer.Argument(help="Folder of the run's checkpoints.")],
    to: Annotated[
        Path | None, typer.Option(help=f"File to write; else {FILE} in the folder.")
    ] = None,
    weights: Which = Weights.best,
) -> None:
    """Write a run's model into one file that the book's live translator can load."""
    with one_line_errors():
        checkpoint = load_checkpoint(run / weights.file)
        refuse_subwords(checkpoint)
        path = to or run / FILE
        model = checkpoint.build_model()
        size = save_page_file(model, checkpoint.vocabularies(), path)
        say(f"{path}: {size / 1e6:.1f} MB; drop it on a live translator of the book")


def refuse_subwords(checkpoint: Checkpoint) -> None:
    """Raise ValueError for a subword model, because the page splits only into words."""
    if checkpoint.subwords is not None:
        raise ValueError(
            "the page splits sentences into whole words, and this model reads "
            "subwords: use translate, or train with whole words (--data multi30k "
            "--config tutorial)"
        )
