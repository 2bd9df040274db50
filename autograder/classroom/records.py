"""Remember what has been graded, so that a run can go on where another stopped.

Everything is under `grading/` in the class's folder: `done/` holds a record for
each graded submission, written whole or not at all, `locks/` a lock for each student.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.atomic_write import atomic_write
from autograder.classroom.fingerprint import (
    fingerprint_of_submission,
    fingerprint_of_unit,
)
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.gradebook import open_session
from autograder.grading.outcome import Outcome, as_record, from_record
from autograder.marks import Marks, marks_of
from autograder.unit import GradedUnit, Submission

FORMAT = 2
MAX_NAME = 200


class Records:
    """The records and locks of one unit in a class's folder."""

    def __init__(self, folder: ClassFolder, unit: GradedUnit):
        """Open them; the folder is made if need be."""
        self.folder, self.slug = folder, unit.slug
        self.home = grading_folder(folder.root)
        for kind in ("done", "locks"):
            (self.home / kind / unit.slug).mkdir(parents=True, exist_ok=True)
        self.unit_hash = fingerprint_of_unit(folder, unit)
        self.gradebook_lock = FileLock(self.home / "locks" / "gradebook.lock")
        self._locks: dict[str, FileLock] = {}

    def lock(self, student: str) -> bool:
        """Take a student's lock; False if another run has it."""
        lock = FileLock(self.home / "locks" / self.slug / f"{_name(student)}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        self._locks[student] = lock
        return True

    def release(self, student: str) -> None:
        """Give a student's lock back."""
        self._locks.pop(student).release()

    def release_all(self) -> None:
        """Give every lock back."""
        for student in list(self._locks):
            self.release(student)

    def forget(self, submission: Submission) -> None:
        """Remove a record: its submission is about to be graded."""
        self._path(submission).unlink(missing_ok=True)

    def kept(self, submission: Submission) -> tuple[Outcome, bool] | None:
        """Return the outcome of an earlier run, if it would be the same today.

        Returns:
            The outcome, and whether its feedback is as the gradebook is; None if the
            submission must be graded.
        """
        record = self._read(submission)
        if record is None or not self._is_current(record, submission):
            return None
        marks = self._marks(submission)
        written = self.folder.autograded(submission.student, self.slug)
        if marks.auto != record["auto"]:
            return None
        if not (written / f"{self.slug}.ipynb").is_file():
            return None
        page = self.folder.feedback_page(submission)
        outcome = from_record(record, submission)
        outcome.is_kept = True
        return outcome, page.is_file() and record["shown"] == marks.shown

    def keep(
        self,
        outcome: Outcome,
        submission_hash: str,
        with_feedback: bool,
        marks: Marks | None = None,
    ) -> None:
        """Write down that a submission is graded, in gradebook and files.

        Args:
            outcome: what it was found to be.
            submission_hash: what was graded.
            with_feedback: whether its page is written.
            marks: what the gradebook holds of it, where that is known.
        """
        if submission_hash != fingerprint_of_submission(outcome.submission):
            return  # it was handed in anew meanwhile
        marks = marks or self._marks(outcome.submission)
        record = {
            "format": FORMAT,
            "submission": submission_hash,
            "unit": self.unit_hash,
            "auto": marks.auto,
            "shown": marks.shown if with_feedback else None,
            **as_record(outcome),
        }
        atomic_write(self._path(outcome.submission), json.dumps(record).encode())

    def _marks(self, submission: Submission) -> Marks:
        with open_session(self.folder.db_url) as session:
            return marks_of(session, submission.slug, submission.student)

    def _path(self, submission: Submission) -> Path:
        return self.home / "done" / self.slug / f"{_name(submission.student)}.json"

    def _read(self, submission: Submission) -> dict[str, Any] | None:
        try:
            record = json.loads(self._path(submission).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if record.get("format") == FORMAT else None

    def _is_current(self, record: dict[str, Any], submission: Submission) -> bool:
        if record["unit"] != self.unit_hash:
            return False
        return record["submission"] == fingerprint_of_submission(submission)


def _name(student: str) -> str:
    """Return a file name for a student that leaves room for an ending."""
    coded = student.encode(errors="surrogateescape")
    return student if len(coded) <= MAX_NAME else hashlib.sha256(coded).hexdigest()
