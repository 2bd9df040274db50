"""Write text into a spreadsheet's cell so that it stays text."""

from typing import Any

from autograder.sandbox.error_words import clean

LONGEST = 200
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: Any) -> str:
    """Return clean text that a spreadsheet does not take for a formula."""
    cell = clean(text, LONGEST)
    is_number = cell.removeprefix("-").replace(".", "", 1).isdecimal()
    return f"'{cell}" if cell.startswith(FORMULA) and not is_number else cell
