"""Record graded submissions, so that a run can continue after an interrupted one.

All records are under `grading/` in the class's folder. `done/` contains a record for
each graded submission; a record is always complete. `locks/` contains a lock for each
student.
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
    """Store the records and hold the locks of one unit in a class's folder."""

    def __init__(self, folder: ClassFolder, unit: GradedUnit):
        """Open the records, and create their folders if necessary."""
        self.folder, self.slug = folder, unit.slug
        self.home = grading_folder(folder.root)
        for kind in ("done", "locks"):
            (self.home / kind / unit.slug).mkdir(parents=True, exist_ok=True)
        self.unit_hash = fingerprint_of_unit(folder, unit)
        self.gradebook_lock = FileLock(self.home / "locks" / "gradebook.lock")
        self._locks: dict[str, FileLock] = {}

    def lock(self, student: str) -> bool:
        """Lock a student, or return False if another run holds the lock."""
        lock = FileLock(self.home / "locks" / self.slug / f"{_name(student)}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        self._locks[student] = lock
        return True

    def release(self, student: str) -> None:
        """Release a student's lock."""
        self._locks.pop(student).release()

    def release_all(self) -> None:
        """Release every lock."""
        for student in list(self._locks):
            self.release(student)

    def forget(self, submission: Submission) -> None:
        """Remove the record of a submission before it is graded."""
        self._path(submission).unlink(missing_ok=True)

    def kept(self, submission: Submission) -> tuple[Outcome, bool] | None:
        """Return the outcome of an earlier run if it is still valid.

        Returns:
            The outcome, and whether its feedback page matches the gradebook. None if
            the submission must be graded.
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
        """Record that a submission's marks and files have been written.

        Args:
            outcome: the outcome of grading.
            submission_hash: the hash of the graded submission.
            with_feedback: whether the feedback page has been written.
            marks: its marks in the gradebook, if known.
        """
        if submission_hash != fingerprint_of_submission(outcome.submission):
            return  # the student has handed in again in the meantime
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
    """Return a file name for a student that is short enough to add a suffix."""
    coded = student.encode(errors="surrogateescape")
    return student if len(coded) <= MAX_NAME else hashlib.sha256(coded).hexdigest()
