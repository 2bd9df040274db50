"""Give every cell an id that is the same in each run and on each machine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from autograder.assemble.cells import Cell
from autograder.assemble.problems import Complaint

LONGEST_SLUG = 40
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # the form that notebook format 4.5 allows


def cell_ids(cells: Sequence[Cell]) -> list[str]:
    """Return the ids of the cells: the `grade_id`, the author's id, or a slug.

    Raises:
        Complaint: if the notebook format does not allow an id, or if an id occurs
            twice.
    """
    fixed = [cell.grade_id or cell.cell_id for cell in cells]
    given = [one for one in fixed if one is not None]
    for one in given:
        if not CELL_ID.fullmatch(one) or given.count(one) > 1:
            raise Complaint(
                f"the cell id '{one}' is given twice or has other characters than "
                "letters, digits, - and _",
                "change `id`",
            )
    taken = set(given)
    return [
        one or _free(slug(cell.source), taken)
        for one, cell in zip(fixed, cells, strict=True)
    ]


def slug(text: str) -> str:
    """Make a slug from the first heading, or from the first line if there is none."""
    lines = [line.strip() for line in text.strip().split("\n")]
    heading = next((line for line in lines if re.match(r"#{1,6} \S", line)), lines[0])
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    if len(words) > LONGEST_SLUG:
        words = words[: LONGEST_SLUG + 1].rpartition("-")[0] or words[:LONGEST_SLUG]
    return words or "cell"


def _free(wanted: str, taken: set[str]) -> str:
    """If an id is already used, add a number; record the result as used."""
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted}-{number}"
    taken.add(found)
    return found
