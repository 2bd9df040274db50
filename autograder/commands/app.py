"""Define the `course` command, which `python -m autograder` also runs."""

from importlib.metadata import version
from typing import Annotated

import typer

from autograder.commands import (
    book,
    build_all,
    collect,
    explain,
    grading,
    hand_grading,
    new_exercise,
    notebooks,
    platforms,
    publish,
    report,
    return_feedback,
    sample_class,
    similar,
    verify,
    viva,
)
from autograder.commands.error_handler import ErrorHandlingGroup
from autograder.translations import command as translations

app = typer.Typer(
    cls=ErrorHandlingGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # joins the lines of a paragraph
)


def _say_versions(asked: bool) -> None:
    if asked:
        named = ("transformer-course", "nbgrader", "torch")
        typer.echo(", ".join(f"{name} {version(name)}" for name in named))
        raise typer.Exit


@app.callback()
def course(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_versions, is_eager=True, help="Show versions."
        ),
    ] = False,
) -> None:
    """Make the course's notebooks and book, and grade submissions."""


_MAKING = (notebooks, new_exercise, book, build_all, translations, verify, publish)
_GRADING = (platforms, sample_class, collect, grading, report, explain, similar, viva)
_RETURNING = (hand_grading, return_feedback)
for _module in (*_MAKING, *_GRADING, *_RETURNING):
    _module.register(app)
