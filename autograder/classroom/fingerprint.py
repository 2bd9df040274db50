"""Hash everything that affects a score: the code, the packages and the submission.

A submission is graded again only if this hash has changed.
"""

import hashlib
import platform
import stat
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import nbformat

from autograder.classroom.folder import SETTINGS, ClassFolder
from autograder.marks import time_in
from autograder.repair.finding import other_notebooks
from autograder.repair.reading import MAX_BYTES
from autograder.sandbox.kit import folder_files
from autograder.unit import GradedUnit, Submission

AUTOGRADER = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "nbgrader", "nbformat", "ipython", "nh3")

# Every folder and file in `autograder` and every file of this folder is in one of the
# two lists.
DECIDING = (
    *("checking", "grading", "nbgrader_steps", "repair", "sandbox"),
    *("classroom/folder.py", "classroom/writing.py"),
    *("explained_errors.py", "marks.py", "notebook_syntax.py", "phrases.py"),
    "unit.py",
)
NOT_DECIDING = (
    *("assemble", "class_report", "collect", "commands", "pages", "proof", "publish"),
    *("platforms", "self_study", "translations", "viva", "written"),
    "checks",  # except for the unit's own checks
    *("classroom/__init__.py", "classroom/audit_log.py", "classroom/cluster.py"),
    *("classroom/cluster_worker.py", "classroom/fingerprint.py"),
    *("classroom/grading_run.py", "classroom/on_drive.py", "classroom/records.py"),
    *("classroom/known_solutions.py", "classroom/similar_answers.py"),
    *("classroom/similarity.py", "classroom/similarity_report.py"),
    "classroom/worker_process.py",
    *("classroom/workers.py", "classroom/writer.py"),
    *("__init__.py", "__main__.py", "course.py", "gradebook.py"),
    *("late_rule.py", "library_log.py", "quick_start.py"),
    *("atomic_write.py", "return_feedback.py", "score_changes.py"),
)


def deciding_files(home: Path = AUTOGRADER) -> Iterator[Path]:
    """Yield the autograder's files in `home` that affect scores, in a fixed order."""
    for name in DECIDING:
        place = home / name
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place]


def fingerprint_of_code(home: Path = AUTOGRADER, package: Path | None = None) -> str:
    """Return a hash of the code that affects scores.

    Args:
        home: the autograder.
        package: the folder of the reference answers, which some checks use for
            comparison.
    """
    digest = hashlib.sha256()
    answers = sorted(package.rglob("*.py")) if package is not None else []
    for path in [*deciding_files(home), *answers]:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of packages that may affect a score."""
    found = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **found}


def fingerprint_of_unit(folder: ClassFolder, unit: GradedUnit) -> str:
    """Return a hash of everything that affects a score except the submission itself."""
    digest = hashlib.sha256()
    settings = (
        unit.draw_number,
        folder.limits,
        folder.db_url.replace(str(folder.root), ""),  # also in a moved or copied class
        sorted(versions().items()),
    )
    digest.update(repr(settings).encode())
    digest.update(nbformat.writes(unit.released).encode())
    digest.update(repr(dict(unit.answers)).encode())
    for name, content in sorted(folder_files(unit.kit).items()):
        if "__pycache__" not in name:
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    for path in (unit.checks_file, folder.root / SETTINGS):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    digest.update(fingerprint_of_code(package=folder.course.package_dir).encode())
    return digest.hexdigest()


def fingerprint_of_submission(submission: Submission) -> str:
    """Return a hash of a submission's notebooks.

    The hash does not depend on the hand-in time. The time affects only the late
    penalty, which is always computed from the current due date and rule. However, a
    submission whose time is unreadable is not graded, so the hash includes that error.
    """
    digest = hashlib.sha256()
    try:
        time_in(submission.path.parent)
    except ValueError as error:
        digest.update(str(error).encode())
    for path in (submission.path, *sorted(other_notebooks(submission.path))):
        try:
            status = path.lstat()
            is_read = stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES
            content = path.read_bytes() if is_read else b"is not read"
        except OSError:
            content = b"not there"
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
