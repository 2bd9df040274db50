"""The command `course` as a whole: `python -m autograder` runs it too."""

import typer

from autograder.commands import (
    book,
    collect,
    everything,
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
_MAKING = (notebooks, book, everything)
for _module in (*_MAKING, collect, grading, publish, report, similar, verify):
    _module.register(app)
