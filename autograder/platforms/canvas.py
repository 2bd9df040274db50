"""Write the files for Canvas: feedback and scores."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.class_report.report import ClassReport
from autograder.grading.feedback_table import number
from autograder.return_feedback import Page, Returned, write_zip

BODY = re.compile(r"<body>(.*)</body>", re.DOTALL)
NEEDLESS = re.compile(
    r"</?(?:body|main)[^>]*>|<a class=\"anchor-link\".*?</a>", re.DOTALL
)
EMPTY_LINES = re.compile(r"\n\s*\n")
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def write_feedback(pages: Iterable[Page], folder: Path) -> Returned:
    """Write the zip for *Upload submissions* in Canvas.

    Canvas identifies a student by the numbers in the file name. It also keeps the file
    name that the student chose, so a file that ends with `.ipynb` must be a notebook.
    """
    return write_zip(pages, folder, "Canvas", _entry)


def _entry(page: Page) -> tuple[str, bytes] | None:
    name = page.canvas_file
    if not name:
        return None
    if name.lower().endswith(".zip"):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(page.path, f"{page.slug}-feedback.html")
        return name, inner.getvalue()
    return name, _as_notebook(page).encode()


def _as_notebook(page: Page) -> str:
    """Return a notebook whose only cell contains the feedback page."""
    html = page.path.read_text(encoding="utf-8")
    found = BODY.search(html)
    shown = NEEDLESS.sub("", found[1] if found else html)
    # In Markdown, an empty line ends a block of HTML.
    cell = new_markdown_cell(EMPTY_LINES.sub("\n", shown), id="feedback")
    return nbformat.writes(new_notebook(cells=[cell], metadata={"kernelspec": KERNEL}))


def score_rows(
    report: ClassReport, heading: str, sections: Mapping[str, str]
) -> Iterator[Sequence[str]]:
    """Yield the rows of a file that Canvas's gradebook imports.

    Canvas identifies a student by Canvas's number or by the login. If the heading of
    the last column belongs to no assignment, Canvas creates an assignment.

    Args:
        report: the report of the class.
        heading: the assignment's column heading in Canvas, or "" for the unit's slug.
        sections: maps students to their sections, for students whose section is known.
    """
    yield "Student", "ID", "SIS Login ID", "Section", heading or report.slug
    yield "Points Possible", "", "", "", number(report.max_score)
    for row in report.rows:
        names = (row.details.get(key, "") for key in ("last_name", "first_name"))
        name = ", ".join(filter(None, names)) or row.student
        number_there = row.details.get("lms_user_id", "")
        section = sections.get(row.student, "")
        yield name, number_there, row.student, section, row.final_score
