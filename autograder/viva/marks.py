"""Store the marks of an oral exam: 0, 1 or 2 for each question on a sheet.

These marks are not points of the unit, so they are not in nbgrader's gradebook.
"""

import csv
import io
from collections.abc import Collection, Sequence
from pathlib import Path

from autograder.atomic_write import atomic_write, text_of_table
from autograder.classroom.folder import grading_folder
from autograder.course import CourseError
from autograder.sandbox.safe_cells import quoted, unquoted
from autograder.viva import NUMBER

COLUMNS = ["student", *(f"question {number + 1}" for number in range(NUMBER))]
MARKS = ("", "0", "1", "2")


def marks_path(root: Path, slug: str) -> Path:
    """Return the path of the file with the marks that were imported."""
    return grading_folder(root) / "viva" / f"{slug}.csv"


def read_marks(path: Path) -> dict[str, list[str]]:
    """Return each student's marks from a table; {} if the file does not exist.

    Raises:
        CourseError: if a mark is not 0, 1, 2 or an empty cell. The message names the
            row.
    """
    try:
        text = text_of_table(path) if path.is_file() else ""
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not in UTF-8: save it as `CSV UTF-8`") from None
    found, delimiter = {}, max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    for number, row in enumerate(reader, 2):
        own = [(row.get(one, "?") or "").strip() for one in COLUMNS[1:]]
        if wrong := [one for one in own if one not in MARKS]:
            raise CourseError(
                f"{path}, row {number}: expected 0, 1, 2 or nothing in the columns "
                f"{', '.join(COLUMNS[1:])}, found {wrong[0]!r}. Correct the row"
            )
        found[unquoted((row.get("student") or "").strip())] = own
    return found


def write_marks(
    path: Path, students: Sequence[str], *sources: dict[str, list[str]]
) -> None:
    """Write a table of marks; for each student, the last source with marks counts."""
    rows = {one: [""] * NUMBER for one in students}
    for source in sources:
        rows |= {student: own for student, own in source.items() if any(own)}
    table = io.StringIO(newline="")
    lines = [[quoted(student), *own] for student, own in rows.items()]
    csv.writer(table).writerows([COLUMNS, *lines])
    atomic_write(path, table.getvalue().encode("utf-8-sig"))


def take(root: Path, slug: str, path: Path, students: Collection[str]) -> int:
    """Import the marks in a filled-in table, and return the number of students.

    Raises:
        CourseError: if a student is unknown or a mark is invalid. Then nothing is
            imported.
    """
    if not path.is_file():
        raise CourseError(f"{path} is not there: look at the path")
    new = {student: own for student, own in read_marks(path).items() if any(own)}
    if unknown := sorted(new.keys() - set(students)):
        raise CourseError(
            f"{path}: expected students who have handed in {slug}, found "
            f"{', '.join(unknown[:5])}. Correct the column student"
        )
    taken = marks_path(root, slug)
    write_marks(taken, (), read_marks(taken), new)
    return len(new)


def shown(marks: Sequence[str]) -> str:
    """Return marks as text, with their sum if every question has a mark."""
    text = " + ".join(one or "–" for one in marks)
    return f"{text} = {sum(map(int, marks))}" if marks and all(marks) else text
