"""Write the files for a mail merge: a table and the attachments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.return_feedback import NOT_GRADED, Page, Returned
from autograder.sandbox.safe_cells import as_csv

NO_ADDRESS = "no e-mail address: collect with a roster that has one"
COLUMNS = ("Email", "Name", "Subject", "File")


def write_feedback(pages: Iterable[Page], folder: Path, subject: str) -> Returned:
    """Write a table of addresses, names, subjects and files, and copy the files.

    The copies are in the same folder as the table and are named after the students.
    """
    pages = list(pages)
    done = Returned(folder / f"{pages[0].slug}-mail" / "mail.csv")
    rows = [COLUMNS]
    for page in pages:
        if not page.path.is_file():
            done.left_out[page.student] = NOT_GRADED
        elif not page.email:
            done.left_out[page.student] = NO_ADDRESS
        else:
            copy = done.place.resolve().with_name(f"{page.student}-{page.slug}.html")
            atomic_write(copy, page.path.read_bytes())
            rows.append((page.email, page.name, subject, str(copy)))
            done.students.append(page.student)
    if done.students:
        atomic_write(done.place, as_csv(rows))
    return done
