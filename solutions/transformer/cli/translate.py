"""The command `translate`: translate one sentence, and draw the heads' attention."""

from pathlib import Path
from typing import Annotated

import typer

from transformer.cli.options import (
    USUAL_OUT,
    Alpha,
    BeamSize,
    Device,
    MaxLen,
    Out,
    Threads,
    Weights,
    Which,
    one_line_errors,
    search_settings,
    weights_of,
    with_room,
)
from transformer.training.checkpoints import load_checkpoint
from transformer.training.models import ModelName
from transformer.training.presets import choose_device
from transformer.translation.inference import Translation, translate


def translate_command(
    sentence: Annotated[str, typer.Argument(help="A sentence of the source language.")],
    attention: Annotated[
        Path | None, typer.Option(help="Image to draw the heads' attention into.")
    ] = None,
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    beam_size: BeamSize = 4,
    length_penalty: Alpha = 0.6,
    max_len: MaxLen = None,
    weights: Which = Weights.best,
) -> None:
    """Print the translation of a sentence, and draw its attention if asked to."""
    with one_line_errors():
        settings = search_settings(beam_size, length_penalty, max_len)
        place = choose_device(device, threads)
        checkpoint = load_checkpoint(weights_of(out, weights))
        refuse_to_draw(ModelName(checkpoint.model_name), attention)
        words = checkpoint.vocabularies()
        read = len(words[0].split(sentence, "de")) + 2  # with <sos> and <eos>
        settings = with_room(settings, max_len, checkpoint, read)
        found = translate(checkpoint.build_model(place), sentence, words, settings)
        typer.echo(found.text)
        if attention is not None:
            draw_attention(found, attention)


def refuse_to_draw(model: ModelName, path: Path | None) -> None:
    """Raise ValueError if attention is to be drawn for a model without attention."""
    if model is ModelName.seq2seq and path is not None:
        raise ValueError(
            "--attention draws what a model looks at, and seq2seq looks at nothing: "
            "leave it out"
        )


def draw_attention(found: Translation, path: Path) -> None:
    """Draw the attention of the last layer's heads into an image file."""
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
