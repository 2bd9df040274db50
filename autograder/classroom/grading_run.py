"""Grade the submissions of one unit: many workers, one writer, resumable."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.classroom.audit_log import AuditLog
from autograder.classroom.fingerprint import fingerprint_of_submission
from autograder.classroom.folder import ClassFolder
from autograder.classroom.records import Records
from autograder.classroom.workers import Processes, Workers
from autograder.classroom.writer import Writer
from autograder.grading.outcome import Outcome
from autograder.marks import Marks
from autograder.unit import GradedUnit, Submission

LOCKED_SECONDS = 0.2  # how long to wait before looking at another run's lock again


@dataclass(frozen=True)
class Choice:
    """How a class is to be graded.

    Attributes:
        with_feedback: also write the feedback pages.
        workers: how many submissions are graded at a time; None = one a core.
        force: grade also what is graded already.
        scheduler: the address of a dask scheduler whose workers are to grade.
    """

    with_feedback: bool = True
    workers: int | None = None
    force: bool = False
    scheduler: str | None = None

    def number_for(self, submissions: int) -> int:
        """Return how many workers so many submissions need."""
        return max(1, min(self.workers or os.cpu_count() or 1, submissions))


def run_through(
    folder: ClassFolder,
    unit: GradedUnit,
    submissions: list[Submission],
    done: Callable[[Outcome], None],
    choice: Choice | None = None,
) -> list[Outcome]:
    """Grade submissions, several at a time; write each as soon as it is graded.

    What an earlier run graded, and what has not changed since, is kept as it is.

    Returns:
        The outcomes in the order of `submissions`, whatever ended first.
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
    """Write those feedback pages anew that do not show what the gradebook holds."""
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
    """Return who grades: a cluster, or processes of this machine.

    Raises:
        ClusterError: if the cluster that was asked for cannot be used.
    """
    if choice.scheduler is not None:
        from autograder.classroom.cluster import Cluster

        return Cluster(unit, folder.limits, choice.scheduler)
    return Processes(unit, folder.limits, choice.number_for(submissions))


class _Run:
    """One run through a class: what is graded, by whom, and what has ended."""

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
        """Keep the workers busy, and write what they give.

        Who ran out of time because others had the processors is graded once more, with
        nobody beside.
        """
        waiting = list(submissions)
        while waiting or self.workers.is_busy():
            waiting = self._begin(waiting)
            if not self.workers.is_busy():
                if waiting:  # another run has the rest in hand
                    time.sleep(LOCKED_SECONDS)
                continue
            graded = self.workers.outcomes()
            waiting = self._begin(waiting)  # nobody waits for the writer
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
        """Give submissions to idle workers; return those that must wait."""
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
        """Keep an earlier outcome if it still holds; bring its feedback up to date."""
        kept = self.records.kept(submission)
        if kept is None:
            return False
        outcome, is_shown = kept
        self._hashes[submission] = fingerprint_of_submission(submission)
        if self.choice.with_feedback and not is_shown:
            with self.records.gradebook_lock:
                is_shown = self.writer.write_feedback(submission)
            if not is_shown:  # what was written is damaged: grade it again
                return False
            self._remember(outcome)
        self._end(outcome)
        return True

    def _write(self, outcome: Outcome) -> None:
        """Write an outcome into gradebook, files and log; only then it is done."""
        with self.records.gradebook_lock:
            marks = self.writer.write(outcome, self.choice.with_feedback)
        self._end(outcome, marks)

    def _remember(self, outcome: Outcome, marks: Marks | None = None) -> None:
        """Write the record that all of a submission is done."""
        submission_hash = self._hashes[outcome.submission]
        with_feedback = self.choice.with_feedback
        self.records.keep(outcome, submission_hash, with_feedback, marks)

    def _end(self, outcome: Outcome, marks: Marks | None = None) -> None:
        """Log an outcome, then record it: a kill in between costs a regrade."""
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
        """Keep of an outcome what a large class has memory for: all is written.

        What is equal is kept once: students make the same mistakes.
        """
        outcome.notebook, outcome.runs = None, ()
        results = tuple(self._kept_once(one) for one in outcome.results)
        outcome.results = self._kept_once(results)

    def _kept_once(self, one: Any) -> Any:
        return self._same.setdefault(one, one)
