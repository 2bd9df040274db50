"""Write outcomes in a separate process, so that a hanging one can be killed.

Pages contain text of students, and any text may make a parser hang.
"""

import contextlib
from collections.abc import Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.atomic_write import atomic_write
from autograder.classroom.folder import ClassFolder
from autograder.classroom.worker_process import (
    PATIENCE,
    TOO_SLOW,
    WorkerProcess,
    begin_working,
    limited,
    was_too_slow,
)
from autograder.classroom.writing import reason_of, take_back, write, write_feedback
from autograder.course import TRANSLATIONS
from autograder.grading.outcome import Outcome, Status
from autograder.library_log import log_warnings
from autograder.marks import Marks
from autograder.phrases import translated
from autograder.sandbox.limits import crowding
from autograder.translations.feedback_catalogues import feedback_table
from autograder.unit import Submission

TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "refused"
SECONDS = 180.0  # wall-clock time for one submission
LOST = "the process that writes ended without an answer"
Job = Literal["outcome", "feedback"]


class Written(NamedTuple):
    """Hold the status of an outcome after writing it.

    Attributes:
        status: the outcome's status.
        reason: why the outcome is not graded or not completely written.
        is_whole: whether everything was written.
        marks: the student's marks in the gradebook.
    """

    status: Status
    reason: str = ""
    is_whole: bool = True
    marks: Marks = Marks()


class Writer:
    """Write outcomes into the gradebook, files and pages, one at a time."""

    def __init__(self, folder: ClassFolder):
        """Start the process in the background."""
        self.folder = folder
        self._process: WorkerProcess | None = self._started()

    def write(self, outcome: Outcome, with_feedback: bool) -> Marks:
        """Write an outcome; if this fails, record the error in its status and reason.

        Returns:
            The marks in the gradebook after writing.
        """
        written = self._ask("outcome", outcome, with_feedback)
        outcome.status, outcome.reason = written.status, written.reason
        if not written.is_whole:
            with contextlib.suppress(Exception):  # the gradebook may be unusable
                take_back(self.folder, outcome.submission)
        return written.marks

    def write_feedback(self, submission: Submission) -> bool:
        """Rewrite the page of a graded submission; return whether that succeeded."""
        return self._ask("feedback", submission).is_whole

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end(PATIENCE)
        self._process = None

    def _started(self) -> WorkerProcess:
        return WorkerProcess(serve, self.folder.root, self.folder.device)

    def _ask(self, job: Job, *arguments: Any) -> Written:
        """Send a job to the process; kill the process if it does not reply in time."""
        self._process = process = self._process or self._started()
        is_late = False
        try:
            process.connection.send((job, arguments))
            is_late = not process.connection.poll(SECONDS * crowding())
            if not is_late:
                return process.connection.recv()
        except (EOFError, OSError):
            pass
        self._process = None
        is_late |= was_too_slow(process.end(0 if is_late else PATIENCE))
        return Written("failed", TOO_SLOW if is_late else LOST, False)


def serve(connection: Connection, root: Path, device: str | None) -> None:
    """Do the jobs that arrive over `connection` for the class in `root`."""
    begin_working()
    log_warnings(root)
    folder = ClassFolder(root, device)
    jobs = {"outcome": write_all, "feedback": show}
    with contextlib.suppress(EOFError, OSError), connection:
        while True:
            job, arguments = connection.recv()
            with limited(folder.limits):
                written = _done(jobs[job], folder, *arguments)
            connection.send(written)


def _done(job: Any, folder: ClassFolder, *arguments: Any) -> Written:
    """Do a job, and return an error as a result, so that the run continues."""
    try:
        return job(folder, *arguments)
    except Exception as error:
        return Written("failed", reason_of(error), False)


def write_all(folder: ClassFolder, outcome: Outcome, with_feedback: bool) -> Written:
    """Write an outcome and its page, and return the status after writing."""
    marks = write(folder, outcome)
    if outcome.status == "graded" and with_feedback:
        write_feedback(folder, outcome.submission)
    elif outcome.status == "refused" and with_feedback:
        write_refusal(folder, outcome)
    return Written(outcome.status, outcome.reason, marks=marks)


def write_refusal(folder: ClassFolder, outcome: Outcome) -> None:
    """Write a page with the reason in each language, as the notebook's is unknown."""
    submission, root = outcome.submission, folder.course.root
    tables: dict[str, Mapping[str, str]] = {"en": {}} | {
        language: feedback_table(root, language, submission.slug)
        for language in TRANSLATIONS
    }
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("refused.html.j2").render(
        slug=submission.slug,
        reason=outcome.reason,
        languages={
            language: partial(translated, table=table)
            for language, table in tables.items()
            if table or language == "en"
        },
    )
    atomic_write(folder.feedback_page(submission), page.encode("utf-8", "replace"))


def show(folder: ClassFolder, submission: Submission) -> Written:
    """Write the page of a graded submission."""
    write_feedback(folder, submission)
    return Written("graded")
