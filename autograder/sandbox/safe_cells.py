"""Write text into a spreadsheet's cells so that it stays text."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.sandbox.error_words import clean

LONGEST = 200
SIGNS = "=+@＝＋－＠-"  # some East Asian spreadsheets accept full-width signs
FORMULA = (*SIGNS, "\t", "\r")
# In many European locales, spreadsheets start a new cell at each semicolon.
IN_NEXT_CELL = re.compile(rf"(;\s*)(?=[{SIGNS}])")
QUOTED_THERE = re.compile(rf"(;\s*)'(?=[{SIGNS}])")


def safe_cell(text: Any) -> str:
    """Return clean text that a spreadsheet does not read as a formula."""
    cell = clean(text, LONGEST)
    return cell if is_number(cell) else quoted(cell)


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number, optionally with a sign or decimal point."""
    return cell.removeprefix("-").replace(".", "", 1).isdecimal()


def quoted(text: str) -> str:
    """Put a quote before each part of a text that could start a formula."""
    inner = IN_NEXT_CELL.sub(r"\1'", text)
    return f"'{inner}" if inner.startswith(FORMULA) else inner


def unquoted(cell: str) -> str:
    """Remove the quotes that `quoted` added to a text."""
    is_quoted = cell.startswith("'") and cell[1:].startswith(FORMULA)
    return QUOTED_THERE.sub(r"\1", cell[1:] if is_quoted else cell)


def as_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a CSV file of safe cells, which Excel also reads as UTF-8."""
    table = io.StringIO(newline="")
    csv.writer(table).writerows([safe_cell(cell) for cell in row] for row in rows)
    return table.getvalue().encode("utf-8-sig")
