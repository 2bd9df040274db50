"""Grade submissions in several processes, so that a slow one does not delay others."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

import torch

from autograder.classroom.worker_process import (
    PATIENCE,
    TOO_SLOW,
    WorkerProcess,
    begin_working,
    limited,
    was_too_slow,
)
from autograder.grading.outcome import Outcome
from autograder.grading.submission import grade_submission, shared_parent, warm_up
from autograder.sandbox import prestart
from autograder.sandbox.control_channel import ControlChannel, NoParent
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.sandbox.kit import folder_files
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission

ATTEMPTS = 2
SPARE_SECONDS = 120  # wall-clock time that is added to all attempts of a submission
Work = Callable[[GradedUnit, Submission, Limits], Any]
LOST = "the process that graded it ended without an answer, twice"


class Workers(Protocol):
    """Accept submissions, and return their outcomes in any order."""

    def has_room(self) -> bool:
        """Return whether another submission can start immediately."""

    def is_busy(self) -> bool:
        """Return whether there are outcomes that have not been returned yet."""

    def give(self, submission: Submission) -> None:
        """Start a submission; the caller must check `has_room` first."""

    def outcomes(self) -> list[Outcome]:
        """Wait for at least one outcome, and return all outcomes that are ready."""

    def close(self) -> None:
        """End every process, and discard the unfinished submissions."""


class _Worker(WorkerProcess):
    """Manage one process and its current submission."""

    def __init__(
        self,
        unit: GradedUnit,
        limits: Limits,
        line: ControlChannel | None,
        work: Work,
    ):
        with line.control if line else contextlib.nullcontext():
            super().__init__(serve, unit, limits, line, work)
        self._limits = limits
        self._until = 0.0
        self.submission: Submission | None = None

    def begin(self, submission: Submission) -> None:
        """Send a submission to the process, and start the time limit."""
        seconds = ATTEMPTS * self._limits.on_this_machine().submission_seconds
        self._until = time.monotonic() + seconds + SPARE_SECONDS
        self.submission = submission
        with contextlib.suppress(OSError):  # `outcomes` detects a lost process
            self.connection.send(submission)

    def seconds_left(self) -> float:
        """Return how many seconds are left for the current submission."""
        return max(0.0, self._until - time.monotonic())


class Processes:
    """Grade in up to `number` processes, each with its own pre-warmed parent.

    The parents are copies of a process that has imported the unit's kit. If a process
    is lost, its submission starts once more in a new process. If a submission keeps the
    grading process busy for too long, it is refused.
    """

    def __init__(
        self,
        unit: GradedUnit,
        limits: Limits,
        number: int,
        work: Work = grade_submission,
    ):
        """Prepare to grade submissions of `unit`; processes start when needed.

        If `work` is another function, its results are returned instead of outcomes.
        """
        self.unit, self.limits, self.number = unit, limits, number
        self._work = work
        self._workers: list[_Worker] = []
        self._attempts: dict[Submission, int] = {}
        self._parent: ForkServerClient | None = None

    def has_room(self) -> bool:
        """Return whether a process is idle or another process may be started."""
        return len(self._busy()) < self.number

    def is_busy(self) -> bool:
        """Return whether a process has an unfinished submission."""
        return bool(self._busy())

    def give(self, submission: Submission) -> None:
        """Send a submission to an idle process."""
        idle = [worker for worker in self._workers if worker.submission is None]
        worker = idle[0] if idle else self._started()
        self._attempts[submission] = self._attempts.get(submission, 0) + 1
        worker.begin(submission)

    def outcomes(self) -> list[Outcome]:
        """Wait for outcomes; restart lost submissions, or report them as failed."""
        busy = self._busy()
        patience = min(worker.seconds_left() for worker in busy)
        ready = wait([worker.connection for worker in busy], patience)
        ended = [w for w in busy if w.connection in ready or not w.seconds_left()]
        return [outcome for worker in ended for outcome in self._answer(worker)]

    def close(self) -> None:
        """End every process together with its pre-warmed parent."""
        for worker in self._workers:
            worker.connection.close()
        while self._workers:
            worker = self._workers.pop()
            worker.end(0 if worker.submission else PATIENCE)
        self._close_parent()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.submission is not None]

    def _started(self) -> _Worker:
        line = self._copied_parent()
        self._workers.append(_Worker(self.unit, self.limits, line, self._work))
        return self._workers[-1]

    def _copied_parent(self) -> ControlChannel | None:
        """Copy the unit's parent for a new process, or return None if that fails."""
        try:
            if self._parent is None:
                self._parent = ForkServerClient(_line_to_copy())
                warm_up(self.unit, folder_files(self.unit.kit), self._parent)
            return self._parent.copy()
        except NoParent:
            self._close_parent()
            return None

    def _close_parent(self) -> None:
        if self._parent is not None:
            self._parent.close()
        self._parent = None

    def _answer(self, worker: _Worker) -> list[Outcome]:
        """Return a worker's outcome, or an empty list if its submission restarts."""
        submission, worker.submission = worker.submission, None
        try:
            if submission is not None and worker.connection.poll():
                outcome = worker.connection.recv()
                del self._attempts[submission]
                return [replace(outcome, submission=submission)]
        except (EOFError, OSError):
            pass
        self._workers.remove(worker)
        late, code = not worker.seconds_left(), worker.end(0)
        if submission is None:
            return []
        if was_too_slow(code) or late:
            return [Outcome(submission, "refused", TOO_SLOW)]
        return self._lost(submission)

    def _lost(self, submission: Submission) -> list[Outcome]:
        if self._attempts[submission] >= ATTEMPTS:
            return [Outcome(submission, "failed", LOST)]
        self.give(submission)
        return []


def _line_to_copy() -> ControlChannel:
    """Copy this process's parent, and end the parent if it cannot be copied.

    Raises:
        NoParent: if the parent cannot be copied.
    """
    try:
        return shared_parent().copy()
    except NoParent:
        prestart.end()
        raise


def serve(
    connection: Connection,
    unit: GradedUnit,
    limits: Limits,
    line: ControlChannel | None = None,
    work: Work = grade_submission,
) -> None:
    """Grade the submissions that arrive over `connection` until it closes.

    `line` is the connection to the pre-warmed parent. Without it, this process starts
    its own.
    """
    begin_working()
    torch.set_num_threads(1)
    try:
        if line is not None:
            prestart.take_over(line)
        while True:
            submission = connection.recv()
            with limited(limits):
                outcome = work(unit, submission, limits)
            connection.send(outcome)
    except (EOFError, OSError):
        pass  # the class is done, or the parent process has ended
    finally:
        connection.close()
        prestart.end()
