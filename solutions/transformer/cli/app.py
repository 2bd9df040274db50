"""The command-line application with all its commands."""

import typer

from transformer.cli.evaluate import evaluate
from transformer.cli.page import page
from transformer.cli.train import train
from transformer.cli.translate import translate_command

app = typer.Typer(
    help="Train a translator, measure it, translate with it, show it in the book.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(train)
app.command()(evaluate)
app.command(name="translate")(translate_command)
app.command()(page)
