"""Read the tables in which instructors filled in marks, and the named comments.

A comment is text that may contain names of comments in `comments.csv`, a file in the
class's folder. `@units` is replaced with the text next to `units` in that file.

If a row with `same as` has an empty cell, the cell gets the value from the row of the
student named there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.atomic_write import text_of_table
from autograder.classroom.folder import ClassFolder
from autograder.grading.feedback_table import number
from autograder.sandbox.safe_cells import unquoted
from autograder.written.rubric import Rubric

COMMENTS, SAME_AS = "comments.csv", "same as"
KEPT = re.compile(r"(?<!\w)@([\w-]+)")
NAMED = re.compile(r'\s*"?[\w-]+"?[ \t]*([,;\t])')  # the start of `comments.csv`
NAMED_FAULTS = 50  # maximum number in a message
SLACK = 0.005  # allowed rounding error in a sum of parts, which have two decimals


class MarksError(ValueError):
    """Report that a table of marks cannot be imported and nothing was changed."""


@dataclass
class Mark:
    """Hold a person's marks for one answer; None or "" leaves a value unchanged.

    `same_as` is the student with the same answer, from whose row this row's empty cells
    get their values, or "".
    """

    student: str
    question: str
    points: float | None = None
    comment: str = ""
    place: str = field(default="", compare=False)
    same_as: str = field(default="", compare=False)


def read_tables(
    paths: Iterable[Path], kept: Mapping[str, str], rubrics: Sequence[Rubric]
) -> tuple[list[Mark], list[str]]:
    """Read filled-in tables, and report the cells that cannot be understood.

    Args:
        paths: the files.
        kept: the named comments.
        rubrics: the rubrics of the unit's questions.

    Returns:
        The marks of each row, and each error with its row.
    """
    by_name = {one.name: one for one in rubrics}
    marks: list[Mark] = []
    faults: list[str] = []
    for path in paths:
        try:
            rows = [*_rows(path)]
        except MarksError as error:
            faults.append(str(error))
            continue
        for place, cells in rows:
            if rubric := by_name.get(cells["question"]):
                marks.append(_mark(place, cells, kept, rubric, faults))
            else:
                names = ", ".join(by_name)
                faults.append(
                    f"{place}: there is no question {cells['question']!r}: {names}."
                )
    return marks, faults


def with_equal_answers(marks: Sequence[Mark]) -> tuple[list[Mark], list[str]]:
    """Fill in each row marked `same as` from the row that it refers to.

    Returns:
        The marks, and an error for each row that refers to a missing row.
    """
    known = {(one.student, one.question): one for one in marks}
    found, faults = [], []
    for mark in marks:
        if not mark.same_as:
            found.append(mark)
        elif first := known.get((mark.same_as, mark.question)):
            points = first.points if mark.points is None else mark.points
            comment = mark.comment or first.comment
            found.append(replace(mark, points=points, comment=comment))
        else:
            faults.append(
                f"{mark.place}: no row of {mark.same_as!r}, whose answer is the same: "
                "take the table with that row too, or empty `same as`."
            )
    return found, faults


def refuse(faults: Sequence[str]) -> None:
    """Raise an exception that lists the first errors, if there are any.

    Raises:
        MarksError: if `faults` is not empty.
    """
    rest = len(faults) - NAMED_FAULTS
    more = [f"And {rest} more."] if rest > 0 else []
    if faults:
        raise MarksError("\n".join([*faults[:NAMED_FAULTS], *more]))


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row of a table: where it is, and its cells."""
    text = _text_of(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    missing = {"student", "question", "points"} - set(reader.fieldnames or ())
    if missing:
        raise MarksError(f"{path} has no column {sorted(missing)[0]}: write it anew.")
    for row_number, row in enumerate(reader, 2):
        place = f"{path}, row {row_number}"
        cells = {
            key: unquoted((value or "").strip()) for key, value in row.items() if key
        }
        if any(cells.values()):
            yield place, cells


def _text_of(path: Path) -> str:
    try:
        return text_of_table(path)
    except UnicodeDecodeError:
        raise MarksError(
            f"{path} is not in UTF-8: save it again, in Excel as `CSV UTF-8`."
        ) from None


def _delimiter(text: str) -> str:
    """Return the delimiter of the cells; in some languages, it is not a comma."""
    first = text.split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _mark(
    place: str,
    cells: Mapping[str, str],
    kept: Mapping[str, str],
    rubric: Rubric,
    faults: list[str],
) -> Mark:
    """Return the marks of one row, and add its errors to `faults`."""
    before = len(faults)
    parts = [
        _points(place, cells[key], limit, faults)
        for n, limit in enumerate(rubric.parts, 1)
        if cells.get(key := f"part {n}")
    ]
    if parts and len(parts) < len(rubric.parts):
        faults.append(
            f"{place}: {len(parts)} of {len(rubric.parts)} parts are given: write 0 "
            "where one earns nothing."
        )
    points = None
    if cells["points"]:
        points = _points(place, cells["points"], rubric.points, faults)
    has_both = bool(parts) and points is not None and len(faults) == before
    if has_both and abs((points or 0) - sum(parts)) > SLACK:
        faults.append(
            f"{place}: points {number(points or 0)}, but the parts add up to "
            f"{number(sum(parts))}: empty one of the two."
        )
    comment = KEPT.sub(
        lambda found: kept.get(found[1], found[0]), cells.get("comment", "")
    )
    given = sum(parts) if parts else points
    same_as = cells.get(SAME_AS, "")
    return Mark(cells["student"], rubric.name, given, comment, place, same_as)


def _points(place: str, text: str, most: float, faults: list[str]) -> float:
    """Return the points in a cell; if there is an error, return 0 and record it."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if 0 <= points <= most:
        return points
    faults.append(f"{place}: {text!r}: expected points, 0 to {number(most)}.")
    return 0.0


def kept_comments(folder: ClassFolder) -> dict[str, str]:
    """Return the named comments of the class from `comments.csv`.

    Raises:
        MarksError: if the file is not in UTF-8.
    """
    path = folder.root / COMMENTS
    if not path.is_file():
        return {}
    text = _text_of(path)
    found = NAMED.match(text)
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=found[1] if found else ","
    )
    return {row[0].strip(): row[1].strip() for row in rows if len(row) > 1}


def unknown_names(marks: Sequence[Mark]) -> list[str]:
    """Return the names in comments that are unknown; they remain as text."""
    found = (name for mark in marks for name in KEPT.findall(mark.comment))
    return list(dict.fromkeys(found))
