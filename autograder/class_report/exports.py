"""Write the scores as the learning platforms read them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.class_report.report import ClassReport, Row
from autograder.grading.feedback_table import number
from autograder.sandbox.safe_cells import safe_cell


def write_exports(report: ClassReport, folder: Path) -> list[Path]:
    """Write one CSV file each for Canvas and for Moodle; return their paths.

    Students with neither a graded submission nor points by hand, and those whom a human
    must still grade, have an empty score, which both platforms leave as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        folder / f"{report.slug}-canvas.csv": canvas_rows(report),
        folder / f"{report.slug}-moodle.csv": moodle_rows(report),
    }
    for path, rows in made.items():
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows(
                [safe_cell(cell) for cell in row] for row in rows
            )
    return list(made)


def canvas_rows(report: ClassReport) -> Iterable[Sequence[str]]:
    """Yield the rows of a file that Canvas's gradebook imports.

    Canvas finds a student by its own number or by the login, and makes an assignment
    of the last column's name where there is none.
    """
    yield "Student", "ID", "SIS Login ID", "Section", report.slug
    yield "Points Possible", "", "", "", number(report.max_score)
    for row in report.rows:
        lms = row.details.get("lms_user_id", "")
        yield _name(row, ", "), lms, row.student, "", _score(row)


def moodle_rows(report: ClassReport) -> Iterable[Sequence[str]]:
    """Yield the rows of a file that Moodle's grade import reads.

    Its form asks which column names the student: username or e-mail address. How
    written answers count can be taken as the grade's feedback.
    """
    heading = ("Username", "First name", "Last name", "Email address", report.slug)
    note = (report.note,) if report.note else ()
    yield (*heading, f"Feedback: {report.slug}") if note else heading
    for row in report.rows:
        first, last, email = (
            row.details.get(key, "") for key in ("first_name", "last_name", "email")
        )
        yield row.student, first, last, email, _score(row), *note


def _name(row: Row, between: str) -> str:
    parts = (row.details.get("last_name", ""), row.details.get("first_name", ""))
    return between.join(part for part in parts if part) or row.student


def _score(row: Row) -> str:
    if row.score is None or row.awaits_a_human:
        return ""
    return number(row.score)
