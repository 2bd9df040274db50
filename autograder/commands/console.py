"""Print texts that may come from students, such as names, paths and reasons.

The terminal displays them as plain text, without `rich` markup and terminal escape
sequences.
"""

import difflib
import os
from collections.abc import Iterable, Sequence

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

LONGEST = 200  # maximum number of characters in a table cell
LONGEST_ID = 40  # characters of an id on one line; longer ids are wrapped
SHOWN = 10  # number of names in a line before "and ... more"


def add_row(table: Table, *cells: object) -> None:
    """Add a row of plain text to a table."""
    from autograder.sandbox.error_words import clean

    table.add_row(*(Text(clean(cell, LONGEST)) for cell in cells))


def problems_table(rows: Sequence[tuple[str, str]], *columns: str) -> Table:
    """Return a table of problems in which no id is broken at 80 columns.

    Args:
        rows: pairs of a student's id and a text.
        columns: the column headings.
    """
    longest = max((len(one) for who, _ in rows for one in who.split()), default=0)
    least = min(longest, LONGEST_ID)
    first = Column(columns[0], overflow="fold", min_width=least, max_width=LONGEST_ID)
    table = Table(first, Column(columns[1], overflow="fold"))
    for row in rows:
        add_row(table, *row)
    return table


def some(names: Iterable[object]) -> str:
    """List the first names, and state how many more there are."""
    from autograder.sandbox.error_words import clean

    cleaned = [clean(name, 60) for name in names]
    rest = len(cleaned) - SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(cleaned[:SHOWN]) + more


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Ask whether the user meant the known name that is most similar to `name`.

    Args:
        name: an unknown name.
        known: the known names.
        otherwise: the text to return if no known name is similar.
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else otherwise


def show(console: Console, *texts: object) -> None:
    """Print each line unchanged, without wrapping it."""
    from autograder.sandbox.error_words import without_controls

    for text in texts:
        plain = Text(without_controls(str(text)))
        console.print(plain, soft_wrap=True)


def complain(problem: object) -> None:
    """Print a problem to standard error."""
    from autograder.sandbox.error_words import without_controls

    typer.echo(without_controls(str(problem)), err=True)


def require_fork() -> None:
    """End the command with a message if this system cannot run submissions.

    Raises:
        Exit: with status 2 if the system has no `os.fork`, as on Windows.
    """
    from autograder.sandbox.bubblewrap import NO_FORK

    if not hasattr(os, "fork"):
        complain(f"Nothing was graded: {NO_FORK}.")
        raise typer.Exit(2)
