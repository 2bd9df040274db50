"""The command `course` as a whole: `python -m autograder` runs it too."""

import typer

from autograder.commands import (
    book,
    collect,
    grading,
    notebooks,
    publish,
    report,
    similar,
    verify,
)

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    help="Make the notebooks of the course, and grade what comes back.",
)
for _module in (notebooks, book, collect, grading, publish, report, similar, verify):
    _module.register(app)
