"""Write text into a spreadsheet's cells so that it stays text."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.sandbox.error_words import clean

LONGEST = 200
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: Any) -> str:
    """Return clean text that a spreadsheet does not take for a formula."""
    cell = clean(text, LONGEST)
    is_number = cell.removeprefix("-").replace(".", "", 1).isdecimal()
    return f"'{cell}" if cell.startswith(FORMULA) and not is_number else cell


def as_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a CSV file of safe cells, which Excel reads as UTF-8 too."""
    table = io.StringIO(newline="")
    csv.writer(table).writerows([safe_cell(cell) for cell in row] for row in rows)
    return table.getvalue().encode("utf-8-sig")
