"""Grade a class whose files lie on a mounted Drive; what is graded is back there soon.

The work is done on the machine's own disk, because a database does not bear a mounted
Drive. After every few students all of it is copied to the Drive: a machine that is
taken away costs those few, and the next run goes on behind them.

`python -m autograder.classroom.on_drive DRIVE WORK UNIT` is what the notebook
`colab_autograde.ipynb` runs.
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
# Copied in this order: a gradebook without its records is graded again, but records
# without their gradebook would be believed.
FIRST = ("collected", "submitted", "autograded", "feedback", "grades.csv", "report")
LAST = ("gradebook.db", "grading")
MIRRORED = ("autograded", "feedback")  # what a later grading took back goes there too
NOT_COPIED = (".lock", "-journal", "-wal", "-shm", UNFINISHED)
STUDENTS_AT_A_TIME = 20


def grade_from_drive(
    drive: Path, work: Path, unit: str, at_a_time: int = STUDENTS_AT_A_TIME
) -> None:
    """Collect, grade and export a unit of the class in `drive`, resuming what is there.

    Args:
        drive: the folder with submissions/ (archives), roster.csv if there is one, and
            class/, which is written.
        work: A folder of this machine; what it holds is brought up to date.
        unit: such as 04.
        at_a_time: after how many students the work is copied to the Drive.
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
    """Run a command of `course` and show what it prints; return its status.

    Status 1 says that some submission was refused or failed: the others are done.

    Raises:
        CalledProcessError: at any other failure.
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
    """Copy what grading wrote to the Drive; each file there is the old or the new."""
    for name in (*FIRST, *LAST):
        if (work / name).exists():
            copy_changed(work / name, home / name)
        if name in MIRRORED:
            _remove_gone(work / name, home / name)


def copy_changed(source: Path, target: Path) -> None:
    """Copy the files that differ, or one file; links are not followed."""
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
    """Read the command line, and grade."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drive", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("unit")
    parser.add_argument("--at-a-time", type=int, default=STUDENTS_AT_A_TIME)
    options = parser.parse_args(words)
    grade_from_drive(options.drive, options.work, options.unit, options.at_a_time)


if __name__ == "__main__":
    main()
