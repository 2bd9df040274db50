"""Grade a class whose files are on a mounted Drive, and often copy the results back.

Grading uses the machine's own disk, because a database can be damaged on a mounted
Drive. After every 20 students, all results are copied to the Drive. If the machine is
lost, only the results since the last copy are lost, and the next run continues from the
last copy.

The notebook `colab_autograde.ipynb` runs `python -m autograder.classroom.on_drive DRIVE
WORK UNIT`.
"""

import argparse
import filecmp
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from autograder.atomic_write import UNFINISHED, atomic_path
from autograder.classroom.folder import ClassFolder

CLASS = "class"
ARCHIVES = "submissions"
ROSTER = "roster.csv"
# The order matters: a gradebook without records is graded again, but records without
# their gradebook would be trusted.
FIRST = ("collected", "submitted", "autograded", "feedback", "grades.csv", "report")
LAST = ("gradebook.db", "grading")
MIRRORED = ("autograded", "feedback")  # files deleted here are also deleted there
NOT_COPIED = (".lock", "-journal", "-wal", "-shm", UNFINISHED)
STUDENTS_AT_A_TIME = 20


def grade_from_drive(
    drive: Path, work: Path, unit: str, at_a_time: int = STUDENTS_AT_A_TIME
) -> None:
    """Collect, grade and export a unit of the class in `drive`; resume earlier work.

    Args:
        drive: the folder with submissions/ (archives), an optional roster.csv, and
            class/, which receives the results.
        work: a folder on this machine, which is first updated from the Drive.
        unit: the unit, such as 04.
        at_a_time: number of students after which the results are copied to the Drive.
    """
    work.mkdir(parents=True, exist_ok=True)
    copy_changed(drive / CLASS, work)
    _collect(drive, work, unit)
    save(work, drive / CLASS)
    folder = ClassFolder(work)
    slug = folder.course.unit(unit).slug
    students = [item.student for item in folder.submissions(slug)]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"The hidden checks run on {device}.")
    for start in range(0, len(students), at_a_time):
        chosen = students[start : start + at_a_time]
        options = [word for name in chosen for word in ("--student", name)]
        run_course("grade", unit, "--course-root", work, "--device", device, *options)
        save(work, drive / CLASS)
        done = min(start + at_a_time, len(students))
        print(f"{done} of {len(students)} students are graded and on the Drive.")
    _export(folder, work)
    run_course("report", unit, "--course-root", work)
    save(work, drive / CLASS)
    print(f"Report: {drive / CLASS / 'report' / f'{slug}.html'}")
    print(f"Scores: {drive / CLASS / 'grades.csv'}")
    print(f"Feedback: {drive / CLASS / 'feedback'}")


def _collect(drive: Path, work: Path, unit: str) -> None:
    roster = drive / ROSTER
    options = ["--roster", roster] if roster.is_file() else []
    for path in sorted((drive / ARCHIVES).glob("*")):
        if path.suffix == ".zip" or path.is_dir():
            words = ["collect", path, "--unit", unit, "--course-root", work]
            run_course(*words, *options)


def run_course(*words: object) -> int:
    """Run a command of `course`, show its output and return its status.

    Status 1 means that some submissions were refused or failed, but all others are
    graded.

    Raises:
        CalledProcessError: if the command fails with any other status.
    """
    command = [sys.executable, "-m", "autograder", *map(str, words)]
    done = subprocess.run(command)
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.returncode


def _export(folder: ClassFolder, work: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "export", "--db", folder.db_url]
    subprocess.run([*command, "--to", work / "grades.csv"], cwd=work, check=True)


def save(work: Path, home: Path) -> None:
    """Copy the results to the Drive, where each file is replaced in one step."""
    for name in (*FIRST, *LAST):
        if (work / name).exists():
            copy_changed(work / name, home / name)
        if name in MIRRORED:
            _remove_gone(work / name, home / name)


def copy_changed(source: Path, target: Path) -> None:
    """Copy a file, or those files in a folder that differ; do not follow links."""
    if not source.exists():
        return
    files = [source] if source.is_file() else sorted(source.rglob("*"))
    for path in files:
        copy = target if source.is_file() else target / path.relative_to(source)
        if path.is_symlink() or not path.is_file() or _is_passing(path):
            continue
        if not copy.is_file() or not filecmp.cmp(path, copy, shallow=False):
            copy.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(copy) as part:
                shutil.copy2(path, part)


def _is_passing(path: Path) -> bool:
    return any(mark in path.name for mark in NOT_COPIED)


def _remove_gone(work: Path, home: Path) -> None:
    for path in sorted(home.rglob("*"), reverse=True):
        if not (work / path.relative_to(home)).exists():
            path.rmdir() if path.is_dir() else path.unlink()


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, and grade the class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drive", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("unit")
    parser.add_argument("--at-a-time", type=int, default=STUDENTS_AT_A_TIME)
    options = parser.parse_args(words)
    grade_from_drive(options.drive, options.work, options.unit, options.at_a_time)


if __name__ == "__main__":
    main()
