"""A student takes new units and corrections with `git pull`, and loses no work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from repositories import write

from autograder.assemble.assembler import assemble
from autograder.course import Course
from autograder.publish import publish
from autograder.publish import repository as steps

NOTEBOOK = Path("assignments", "01_sums", "01_sums.ipynb")
LATER = Path("assignments", "02_means", "02_means.ipynb")


@pytest.fixture
def student(course: Course, tmp_path: Path) -> Path:
    """Clone the repository, with unit 01 published, as a student does."""
    publish(course, tmp_path / "public", "01")
    folder = tmp_path / "student"
    steps.git(tmp_path, "clone", "-q", str(tmp_path / "public"), str(folder))
    return folder


def pull(student: Path) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(student), "pull", "-q"]
    return subprocess.run(command, capture_output=True, text=True)


def publish_anew(course: Course, tmp_path: Path) -> None:
    """Publish both units, with a correction in the notebook of unit 01."""
    master = course.master(course.unit("1"))
    text = master.read_text(encoding="utf-8")
    write(master, text.replace("Your name:", "Your name, please:"))
    assemble(course)
    publish(course, tmp_path / "public")


def test_new_units_come_beside_what_a_student_wrote(
    course: Course, student: Path, tmp_path: Path
) -> None:
    write(student / NOTEBOOK, "my answers")
    write(student / "notes.txt", "mine")
    publish(course, tmp_path / "public")
    done = pull(student)
    assert done.returncode == 0, done.stderr
    assert (student / LATER).is_file()
    assert (student / NOTEBOOK).read_text() == "my answers"
    assert (student / "notes.txt").read_text() == "mine"


def test_a_notebook_that_is_moved_away_makes_room_for_the_new_one(
    course: Course, student: Path, tmp_path: Path
) -> None:
    write(student / NOTEBOOK, "my answers")
    publish_anew(course, tmp_path)
    refused = pull(student)
    assert refused.returncode and NOTEBOOK.as_posix() in refused.stderr
    assert (student / NOTEBOOK).read_text() == "my answers"
    mine = tmp_path / "mine.ipynb"
    mine.write_text((student / NOTEBOOK).read_text())  # a copy would not help
    assert pull(student).returncode
    (student / NOTEBOOK).rename(mine)
    done = pull(student)
    assert done.returncode == 0, done.stderr
    assert mine.read_text() == "my answers"
    assert "Your name, please:" in (student / NOTEBOOK).read_text()


def test_a_file_in_the_place_of_a_new_unit_is_moved_in_the_same_way(
    course: Course, student: Path, tmp_path: Path
) -> None:
    write(student / LATER, "from a friend")
    publish_anew(course, tmp_path)
    refused = pull(student)
    assert refused.returncode and LATER.as_posix() in refused.stderr
    (student / LATER).rename(tmp_path / "theirs.ipynb")
    done = pull(student)
    assert done.returncode == 0, done.stderr


def test_a_copy_under_another_name_stays(
    course: Course, student: Path, tmp_path: Path
) -> None:
    copy = student / NOTEBOOK.with_name("my_01_sums.ipynb")
    write(copy, "my answers")
    publish_anew(course, tmp_path)
    done = pull(student)
    assert done.returncode == 0, done.stderr
    assert copy.read_text() == "my answers"
