"""Write the files for Moodle: feedback and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from autograder.class_report.report import ClassReport
from autograder.return_feedback import Page, Returned, write_zip


def write_feedback(pages: Iterable[Page], folder: Path) -> Returned:
    """Write the zip for *Upload multiple feedback files in a zip* in Moodle.

    Moodle identifies a student by the number in the folder's name. The folder must have
    the same name as in the downloaded submissions.
    """
    return write_zip(pages, folder, "Moodle", _entry)


def _entry(page: Page) -> tuple[str, bytes] | None:
    if not page.moodle_folder:
        return None
    name = f"{page.moodle_folder}/{page.slug}-feedback.html"
    return name, page.path.read_bytes()


def score_rows(report: ClassReport) -> Iterator[Sequence[str]]:
    """Yield the rows of a file for Moodle's grade import.

    Moodle's import form asks which column identifies the student, username or e-mail
    address. It can also import the note on written answers as feedback.
    """
    heading = ("Username", "First name", "Last name", "Email address", report.slug)
    note = (report.note,) if report.note else ()
    yield (*heading, f"Feedback: {report.slug}") if note else heading
    for row in report.rows:
        first, last, email = (
            row.details.get(key, "") for key in ("first_name", "last_name", "email")
        )
        yield row.student, first, last, email, row.final_score, *note
