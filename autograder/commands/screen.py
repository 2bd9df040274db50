"""Show on the terminal what may come from students: names, paths, reasons.

It is text, whatever stands in it: no markup of `rich`, no escapes of the terminal.
"""

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

LONGEST = 200  # characters of a table's cell


def add_row(table: Table, *cells: object) -> None:
    """Add a row of plain texts to a table."""
    from autograder.sandbox.error_words import clean

    table.add_row(*(Text(clean(cell, LONGEST)) for cell in cells))


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
