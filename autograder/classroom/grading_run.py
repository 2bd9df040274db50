"""Grade the submissions of one unit with many workers and one writer.

An interrupted run can be continued.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.classroom.audit_log import AuditLog
from autograder.classroom.fingerprint import fingerprint_of_submission
from autograder.classroom.folder import ClassFolder
from autograder.classroom.records import Records
from autograder.classroom.writer import Writer
from autograder.grading.outcome import Outcome
from autograder.marks import Marks
from autograder.unit import GradedUnit, Submission

if TYPE_CHECKING:
    from autograder.classroom.workers import Workers

LOCKED_SECONDS = 0.2  # between two attempts to get a lock that another run holds


@dataclass(frozen=True)
class Choice:
    """Hold the options for grading a class.

    Attributes:
        with_feedback: also write the feedback pages.
        workers: how many submissions are graded at a time; None means one per core.
        force: also grade submissions that are already graded.
        scheduler: the address of a dask scheduler whose workers grade the submissions.
    """

    with_feedback: bool = True
    workers: int | None = None
    force: bool = False
    scheduler: str | None = None

    def number_for(self, submissions: int) -> int:
        """Return the number of workers to use for this many submissions."""
        return max(1, min(self.workers or os.cpu_count() or 1, submissions))


def run_through(
    folder: ClassFolder,
    unit: GradedUnit,
    submissions: list[Submission],
    done: Callable[[Outcome], None],
    choice: Choice | None = None,
) -> list[Outcome]:
    """Grade several submissions at a time, and write each result immediately.

    Results of an earlier run are kept if nothing has changed since then.

    Returns:
        The outcomes in the order of `submissions`.
    """
    choice = choice or Choice()
    workers = _workers(folder, unit, choice, len(submissions))
    run = _Run(folder, unit, workers, done, choice)
    try:
        run.go_through(submissions)
    finally:
        workers.close()
        run.writer.close()
        run.records.release_all()
    return [run.ended[submission] for submission in submissions]


def renew_pages(folder: ClassFolder, unit: GradedUnit) -> None:
    """Rewrite the feedback pages whose marks differ from the gradebook."""
    records, writer = Records(folder, unit), Writer(folder)
    try:
        for submission in folder.submissions(unit.slug):
            kept = records.kept(submission)
            if kept is None or kept[1]:
                continue
            with records.gradebook_lock:
                is_shown = writer.write_feedback(submission)
            if is_shown:
                records.keep(kept[0], fingerprint_of_submission(submission), True)
    finally:
        writer.close()
        records.release_all()


def _workers(
    folder: ClassFolder, unit: GradedUnit, choice: Choice, submissions: int
) -> Workers:
    """Return the workers that grade: a cluster, or processes on this machine.

    Raises:
        ClusterError: if the requested cluster cannot be used.
    """
    if choice.scheduler is not None:
        from autograder.classroom.cluster import Cluster

        return Cluster(unit, folder.limits, choice.scheduler)
    # Workers import PyTorch, which takes seconds, and `renew_pages` does not need them.
    from autograder.classroom.workers import Processes

    return Processes(unit, folder.limits, choice.number_for(submissions))


class _Run:
    """Perform one run, and keep track of the submissions and their outcomes."""

    def __init__(
        self,
        folder: ClassFolder,
        unit: GradedUnit,
        workers: Workers,
        done: Callable[[Outcome], None],
        choice: Choice,
    ):
        self.workers, self.writer = workers, Writer(folder)
        self.done, self.choice = done, choice
        self.records = Records(folder, unit)
        self.log = AuditLog(folder.root)
        self.ended: dict[Submission, Outcome] = {}
        self._held_up: list[Submission] = []
        self._hashes: dict[Submission, str] = {}
        self._same: dict[Any, Any] = {}

    def go_through(self, submissions: list[Submission]) -> None:
        """Keep the workers busy, and write their outcomes.

        A submission that ran out of time while others used the processors is graded
        again while no other submission is being graded.
        """
        waiting = list(submissions)
        while waiting or self.workers.is_busy():
            waiting = self._begin(waiting)
            if not self.workers.is_busy():
                if waiting:  # another run is grading the rest
                    time.sleep(LOCKED_SECONDS)
                continue
            graded = self.workers.outcomes()
            waiting = self._begin(waiting)  # so that no worker waits for the writer
            for outcome in graded:
                if outcome.was_held_up:
                    self._held_up.append(outcome.submission)
                else:
                    self._write(outcome)
        for submission in self._held_up:
            self._grade_alone(submission)

    def _grade_alone(self, submission: Submission) -> None:
        self.workers.give(submission)
        while self.workers.is_busy():
            for outcome in self.workers.outcomes():
                self._write(outcome)

    def _begin(self, waiting: list[Submission]) -> list[Submission]:
        """Give submissions to idle workers, and return the submissions that remain."""
        left: list[Submission] = []
        for number, submission in enumerate(waiting):
            if not self.workers.has_room():
                return left + waiting[number:]
            if not self.records.lock(submission.student):
                left.append(submission)
                continue
            if self.choice.force or not self._keep(submission):
                self.records.forget(submission)
                self._hashes[submission] = fingerprint_of_submission(submission)
                self.workers.give(submission)
        return left

    def _keep(self, submission: Submission) -> bool:
        """Keep an earlier outcome if it is still valid, and update its page."""
        kept = self.records.kept(submission)
        if kept is None:
            return False
        outcome, is_shown = kept
        self._hashes[submission] = fingerprint_of_submission(submission)
        if self.choice.with_feedback and not is_shown:
            with self.records.gradebook_lock:
                is_shown = self.writer.write_feedback(submission)
            if not is_shown:  # the written files are damaged, so grade it again
                return False
            self._remember(outcome)
        self._end(outcome)
        return True

    def _write(self, outcome: Outcome) -> None:
        """Write an outcome to the gradebook and files, and then mark it as done."""
        with self.records.gradebook_lock:
            marks = self.writer.write(outcome, self.choice.with_feedback)
        self._end(outcome, marks)

    def _remember(self, outcome: Outcome, marks: Marks | None = None) -> None:
        """Record that all files of a submission have been written."""
        submission_hash = self._hashes[outcome.submission]
        with_feedback = self.choice.with_feedback
        self.records.keep(outcome, submission_hash, with_feedback, marks)

    def _end(self, outcome: Outcome, marks: Marks | None = None) -> None:
        """Log an outcome, and then record it as done.

        If the run is killed in between, the next run grades the submission again.
        """
        submission = outcome.submission
        self.log.add(outcome, self._hashes[submission], self.records.unit_hash)
        if outcome.status == "graded" and not outcome.is_kept:
            self._remember(outcome, marks)
        self.records.release(submission.student)
        del self._hashes[submission]
        self.ended[submission] = outcome
        self.done(outcome)
        self._lighten(outcome)

    def _lighten(self, outcome: Outcome) -> None:
        """Drop the large parts of a written outcome to save memory.

        Equal results share one object, because many students make the same mistakes.
        """
        outcome.notebook, outcome.runs = None, ()
        results = tuple(self._kept_once(one) for one in outcome.results)
        outcome.results = self._kept_once(results)

    def _kept_once(self, one: Any) -> Any:
        return self._same.setdefault(one, one)
