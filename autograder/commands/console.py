"""Show on the terminal what may come from students: names, paths, reasons.

It is text, whatever stands in it: no markup of `rich`, no escapes of the terminal.
"""

import os
from collections.abc import Iterable, Sequence

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

LONGEST = 200  # characters of a table's cell
LONGEST_ID = 40  # characters of an id on one line; a longer one goes on in the next
SHOWN = 10  # of many names in a line


def add_row(table: Table, *cells: object) -> None:
    """Add a row of plain texts to a table."""
    from autograder.sandbox.error_words import clean

    table.add_row(*(Text(clean(cell, LONGEST)) for cell in cells))


def problems_table(rows: Sequence[tuple[str, str]], *columns: str) -> Table:
    """Return a table of what went wrong, in which ids are whole at 80 columns.

    Args:
        rows: whose it is, and what to say.
        columns: what they are called.
    """
    longest = max((len(one) for who, _ in rows for one in who.split()), default=0)
    least = min(longest, LONGEST_ID)
    first = Column(columns[0], overflow="fold", min_width=least, max_width=LONGEST_ID)
    table = Table(first, Column(columns[1], overflow="fold"))
    for row in rows:
        add_row(table, *row)
    return table


def some(names: Iterable[object]) -> str:
    """Name the first of many, and say how many more there are."""
    from autograder.sandbox.error_words import clean

    cleaned = [clean(name, 60) for name in names]
    rest = len(cleaned) - SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(cleaned[:SHOWN]) + more


def show(console: Console, *texts: object) -> None:
    """Print lines that are not broken, each as it is."""
    from autograder.sandbox.error_words import without_controls

    for text in texts:
        plain = Text(without_controls(str(text)))
        console.print(plain, soft_wrap=True)


def complain(problem: object) -> None:
    """Write what went wrong to the terminal's other stream."""
    from autograder.sandbox.error_words import without_controls

    typer.echo(without_controls(str(problem)), err=True)


def require_fork() -> None:
    """End the command with one sentence where no submission can run, as on Windows.

    Raises:
        Exit: with status 2, if the system has no `os.fork`.
    """
    from autograder.sandbox.bubblewrap import NO_FORK

    if not hasattr(os, "fork"):
        complain(f"Nothing was graded: {NO_FORK}.")
        raise typer.Exit(2)
