"""Remember what has been graded, so that a run can go on where another stopped.

Everything is under `grading/` in the class's folder: `done/` holds a record for
each graded submission, written whole or not at all, `locks/` a lock for each student.
"""

import hashlib
import json
import os
import platform
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from filelock import FileLock, Timeout
from nbgrader.api import Gradebook, MissingEntry

from autograder.classroom.folder import (
    SETTINGS,
    ClassFolder,
    grading_folder,
)
from autograder.grading.outcome import Outcome, as_record, from_record
from autograder.repair.reading import MAX_BYTES
from autograder.sandbox.kit import folder_files
from autograder.unit import GradedUnit, Submission

FORMAT = 2
MAX_NAME = 200
SEED = 0
PACKAGES = ("torch", "numpy", "nbgrader", "nbformat", "ipython", "nh3")
HERE = Path(__file__).resolve().parent
NO_ENGINE = {
    "checks",
    "variants",
    "assemble",
    "cli.py",
}  # decide no score by themselves


@dataclass(frozen=True)
class Marks:
    """What the gradebook holds of one submission.

    Attributes:
        auto: each graded cell's automatic score.
        shown: A digest of everything that its feedback shows.
    """

    auto: dict[str, float | None] = field(default_factory=dict)
    shown: str = ""


class Records:
    """The records and locks of one unit in a class's folder."""

    def __init__(self, folder: ClassFolder, unit: GradedUnit):
        """Open them; the folder is made if need be."""
        self.folder, self.slug = folder, unit.slug
        self.home = grading_folder(folder.root)
        for kind in ("done", "locks"):
            (self.home / kind / unit.slug).mkdir(parents=True, exist_ok=True)
        self.unit_hash = hash_of_unit(folder, unit)
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
        marks = marks_of(self.folder.db_url, submission)
        written = self.folder.autograded(submission.student, self.slug)
        if marks.auto != record["auto"]:
            return None
        if not (written / f"{self.slug}.ipynb").is_file():
            return None
        page = self.folder.feedback_page(submission)
        outcome = from_record(record, submission)
        outcome.is_kept = True
        return outcome, page.is_file() and record["shown"] == marks.shown

    def keep(self, outcome: Outcome, submission_hash: str, with_feedback: bool) -> None:
        """Write down that a submission is graded, in gradebook and files."""
        if submission_hash != hash_of_submission(outcome.submission):
            return  # it was handed in anew meanwhile
        marks = marks_of(self.folder.db_url, outcome.submission)
        record = {
            "format": FORMAT,
            "submission": submission_hash,
            "unit": self.unit_hash,
            "auto": marks.auto,
            "shown": marks.shown if with_feedback else None,
            **as_record(outcome),
        }
        write_whole(self._path(outcome.submission), json.dumps(record))

    def _path(self, submission: Submission) -> Path:
        return self.home / "done" / self.slug / f"{_name(submission.student)}.json"

    def _read(self, submission: Submission) -> dict[str, Any] | None:
        try:
            record = json.loads(self._path(submission).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if record.get("format") == FORMAT else None

    def _is_current(self, record: dict[str, Any], submission: Submission) -> bool:
        same_unit = record["unit"] == self.unit_hash
        return same_unit and record["submission"] == hash_of_submission(submission)


def _name(student: str) -> str:
    """Return a file name for a student that leaves room for an ending."""
    coded = student.encode(errors="surrogateescape")
    return student if len(coded) <= MAX_NAME else hashlib.sha256(coded).hexdigest()


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there with all of its text or not at all."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def versions() -> dict[str, str]:
    """Return the versions of what a score may depend on."""
    found = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **found}


def hash_of_submission(submission: Submission) -> str:
    """Return a hash of what was handed in: the notebook, and when."""
    place, digest = submission.path.parent, hashlib.sha256()
    for path in (submission.path, place / "timestamp.txt"):
        try:
            status = path.lstat()
            is_read = stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES
            content = path.read_bytes() if is_read else b"is not read"
        except OSError:
            content = b"not there"
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def hash_of_unit(folder: ClassFolder, unit: GradedUnit) -> str:
    """Return a hash of all that decides a score but for the submission itself."""
    digest = hashlib.sha256()
    settings = (FORMAT, SEED, folder.limits, folder.db_url, sorted(versions().items()))
    digest.update(repr(settings).encode())
    digest.update(nbformat.writes(unit.released).encode())
    for name, content in sorted(folder_files(unit.kit).items()):
        if "__pycache__" not in name:
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    for path in _trusted_files(folder, unit):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _trusted_files(folder: ClassFolder, unit: GradedUnit) -> Iterator[Path]:
    """Yield the checks, the answers, the grading engine and the class's settings."""
    yield unit.checks_file
    yield folder.root / SETTINGS
    yield from sorted(folder.course.package_dir.rglob("*.py"))
    for path in sorted(HERE.rglob("*.py")):
        first = path.relative_to(HERE).parts[0]
        if first not in NO_ENGINE and not first.startswith("commands_"):
            yield path


def marks_of(db_url: str, submission: Submission) -> Marks:
    """Read what the gradebook holds of a submission; nothing if it is not in it."""
    with Gradebook(db_url) as gradebook:
        try:
            found = gradebook.find_submission(submission.slug, submission.student)
        except MissingEntry:
            return Marks()
        grades = [grade for notebook in found.notebooks for grade in notebook.grades]
        comments = [item for notebook in found.notebooks for item in notebook.comments]
        auto = {grade.name: grade.auto_score for grade in grades}
        shown = [
            [g.name, g.auto_score, g.manual_score, g.extra_credit] for g in grades
        ] + [[c.name, c.auto_comment, c.manual_comment] for c in comments]
    text = json.dumps(sorted(shown, key=repr))
    return Marks(auto, hashlib.sha256(text.encode()).hexdigest())
