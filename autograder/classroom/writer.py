"""Have outcomes written by a process that can be ended: pages are made of any text."""

import contextlib
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

from autograder.classroom.folder import ClassFolder
from autograder.classroom.worker_process import (
    PATIENCE,
    TOO_SLOW,
    WorkerProcess,
    begin_working,
    limited,
    was_too_slow,
)
from autograder.classroom.writing import take_back, write, write_feedback
from autograder.grading.outcome import Outcome, Status
from autograder.grading.submission import MAX_REASON
from autograder.library_log import log_warnings
from autograder.marks import Marks
from autograder.sandbox.limits import crowding
from autograder.unit import Submission

SECONDS = 180.0  # for one submission, of wall-clock time
LOST = "the process that writes ended without an answer"
Job = Literal["outcome", "feedback"]


class Written(NamedTuple):
    """What an outcome is after it was written, and whether all of it is written.

    Attributes:
        status: the outcome's status.
        reason: why it is not graded, or not whole.
        is_whole: whether all is written.
        marks: what the gradebook then holds of it.
    """

    status: Status
    reason: str = ""
    is_whole: bool = True
    marks: Marks = Marks()


class Writer:
    """Write outcomes into gradebook, files and pages, one at a time."""

    def __init__(self, folder: ClassFolder):
        """Begin to start the process."""
        self.folder = folder
        self._process: WorkerProcess | None = self._started()

    def write(self, outcome: Outcome, with_feedback: bool) -> Marks:
        """Write an outcome; what goes wrong becomes its status and reason.

        Returns:
            What the gradebook then holds of it.
        """
        written = self._ask("outcome", outcome, with_feedback)
        outcome.status, outcome.reason = written.status, written.reason
        if not written.is_whole:
            with contextlib.suppress(Exception):  # the gradebook may be what is lost
                take_back(self.folder, outcome.submission)
        return written.marks

    def write_feedback(self, submission: Submission) -> bool:
        """Write the page of a graded submission anew; say whether it could be."""
        return self._ask("feedback", submission).is_whole

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end(PATIENCE)
        self._process = None

    def _started(self) -> WorkerProcess:
        return WorkerProcess(serve, self.folder.root, self.folder.device)

    def _ask(self, job: Job, *arguments: Any) -> Written:
        """Have something done; a process that does not answer in time is ended."""
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
    """Write what comes over `connection` into the class in `root`."""
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
    """Do a job; one submission must not stop the class."""
    try:
        return job(folder, *arguments)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:MAX_REASON]
        return Written("failed", words, False)


def write_all(folder: ClassFolder, outcome: Outcome, with_feedback: bool) -> Written:
    """Write an outcome and its page; return the status that it has then."""
    marks = write(folder, outcome)
    if outcome.status == "graded" and with_feedback:
        write_feedback(folder, outcome.submission)
    return Written(outcome.status, outcome.reason, marks=marks)


def show(folder: ClassFolder, submission: Submission) -> Written:
    """Write the page of a graded submission."""
    write_feedback(folder, submission)
    return Written("graded")
