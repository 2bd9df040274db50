"""Write feedback as Moodle, Canvas, nbgrader's exchange or a mail merge takes it."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import capture_log

from autograder.atomic_write import atomic_path, atomic_write
from autograder.classroom.folder import ClassFolder
from autograder.giving_back.as_notebook import as_notebook
from autograder.giving_back.returned import NOT_GRADED, Page, Returned
from autograder.sandbox.safe_cells import safe_cell

NOT_FROM = "not collected from an archive of {platform}"
NO_ADDRESS = "no e-mail address: collect with a roster that has one"
NO_SECRET = "not handed in through the exchange"
MAIL_COLUMNS = ("Email", "Name", "Subject", "File")


def for_moodle(pages: Iterable[Page], folder: Path) -> Returned:
    """Write the zip that Moodle takes as *Upload multiple feedback files in a zip*.

    Moodle finds a student by the number in the folder's name, which is the one that the
    submission was downloaded in.
    """
    return _zipped(pages, folder, "moodle", "Moodle", _of_moodle)


def _of_moodle(page: Page) -> tuple[str, bytes] | None:
    if not page.moodle_folder:
        return None
    name = f"{page.moodle_folder}/{page.slug}-feedback.html"
    return name, page.path.read_bytes()


def for_canvas(pages: Iterable[Page], folder: Path) -> Returned:
    """Write the zip that Canvas takes as *Upload submissions*.

    Canvas finds a student by the numbers in the file's name, and keeps the name that
    the student gave the file: what comes back under a notebook's name is a notebook.
    """
    return _zipped(pages, folder, "canvas", "Canvas", _of_canvas)


def _of_canvas(page: Page) -> tuple[str, bytes] | None:
    name = page.canvas_file
    if not name:
        return None
    if name.lower().endswith(".zip"):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(page.path, f"{page.slug}-feedback.html")
        return name, inner.getvalue()
    return name, as_notebook(page).encode()


def _zipped(
    pages: Iterable[Page],
    folder: Path,
    word: str,
    platform: str,
    entry_of: Callable[[Page], tuple[str, bytes] | None],
) -> Returned:
    """Write an archive with an entry for each page that the platform can take."""
    pages = list(pages)
    done = Returned(folder / f"{pages[0].slug}-{word}.zip")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        atomic_path(done.place) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        names: set[str] = set()
        for page in pages:
            if not page.path.is_file():
                done.left_out[page.student] = NOT_GRADED
            elif entry := entry_of(page):
                if entry[0] not in names:  # else another member of the team has it
                    archive.writestr(*entry)
                    names.add(entry[0])
                done.students.append(page.student)
            else:
                done.left_out[page.student] = NOT_FROM.format(platform=platform)
    if not done.students:
        done.place.unlink()
    return done


def for_mail(pages: Iterable[Page], folder: Path, subject: str) -> Returned:
    """Write a table for a mail merge: address, name, subject, and the file to attach.

    The files lie beside it, named after the students.
    """
    pages = list(pages)
    done = Returned(folder / f"{pages[0].slug}-mail" / "mail.csv")
    rows = [MAIL_COLUMNS]
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
        text = io.StringIO()
        cells = [[safe_cell(cell) for cell in row] for row in rows]
        csv.writer(text, lineterminator="\n").writerows(cells)
        atomic_write(done.place, text.getvalue().encode("utf-8-sig"))
    return done


def through_exchange(pages: Iterable[Page], folder: ClassFolder) -> Returned:
    """Release feedback as nbgrader does, for `nbgrader fetch_feedback`.

    Raises:
        RuntimeError: with what nbgrader says, if it does not succeed.
    """
    done = Returned(Path())
    course, config = folder.coursedir, folder.config
    factory = ExchangeFactory(config=config)
    authenticator = Authenticator(config=config)
    for page in pages:
        if not page.path.is_file():
            done.left_out[page.student] = NOT_GRADED
        elif not page.path.with_name("submission_secret.txt").is_file():
            done.left_out[page.student] = NO_SECRET
        else:
            course.assignment_id, course.student_id = page.slug, page.student
            release = factory.ReleaseFeedback(
                coursedir=course, authenticator=authenticator, config=config
            )
            result = capture_log(release)
            if not result["success"]:
                lines = (result.get("log") or result["error"]).strip().splitlines()
                raise RuntimeError(lines[-1])
            done.place = Path(release.dest_path)
            done.students.append(page.student)
    return done
