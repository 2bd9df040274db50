"""A submission is written in one piece, and a gradebook is stamped as nbgrader does."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import nbgrader.api
import pytest
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from tiny_grading import EXPECTED, UNIT, grade, only, scores

from autograder.classroom import writer
from autograder.classroom.folder import ClassFolder
from autograder.gradebook import (
    find_alembic,
    newest_revision,
    one_transaction,
    share_engines,
)
from autograder.grading.submission import grade_submission
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


@pytest.fixture
def db_url(tiny_class: Path) -> str:
    """Return the address of a gradebook that knows the tiny unit, and nobody."""
    folder = ClassFolder(tiny_class)
    folder.register(UNIT)
    share_engines()
    return folder.db_url


def file_of(db_url: str) -> Path:
    return Path(db_url.removeprefix("sqlite:///"))


def changes(path: Path) -> int:
    """Return how many transactions have been written into a SQLite file."""
    return int.from_bytes(path.read_bytes()[24:28], "big")


def students(db_url: str) -> list[str]:
    """Return the students that another process would see."""
    connection = sqlite3.connect(file_of(db_url))
    try:
        return [row[0] for row in connection.execute("SELECT id FROM student")]
    finally:
        connection.close()


def test_a_new_gradebook_is_stamped_as_nbgrader_does_it(db_url):
    find_alembic()
    said = subprocess.run(
        [sys.executable, "-m", "nbgrader.dbutil", "heads"],
        capture_output=True,
        text=True,
        check=True,
    )
    connection = sqlite3.connect(file_of(db_url))
    stamps = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    connection.close()
    assert stamps == [(said.stdout.split()[0],)] == [(newest_revision(),)]


def test_a_new_gradebook_starts_no_command(tiny_class, monkeypatch):
    def refuse(*_arguments, **_settings):
        raise AssertionError("a command was started")

    monkeypatch.setattr(nbgrader.api.sp, "check_output", refuse)
    ClassFolder(tiny_class).register(UNIT)
    assert (tiny_class / "gradebook.db").is_file()


def test_others_see_all_of_it_or_nothing(db_url):
    before = changes(file_of(db_url))
    with one_transaction(db_url):
        for name in ("ada", "grace"):
            with Gradebook(db_url) as gradebook:
                gradebook.add_student(name)
        with Gradebook(db_url) as gradebook:
            assert {student.id for student in gradebook.students} == {"ada", "grace"}
        assert students(db_url) == []
    assert sorted(students(db_url)) == ["ada", "grace"]
    assert changes(file_of(db_url)) == before + 1


def test_nothing_is_written_when_it_is_broken_off(db_url):
    with pytest.raises(RuntimeError, match="broken off"), one_transaction(db_url):
        with Gradebook(db_url) as gradebook:
            gradebook.add_student("ada")
        raise RuntimeError("broken off")
    assert students(db_url) == []
    with Gradebook(db_url) as gradebook, pytest.raises(MissingEntry):
        gradebook.find_student("ada")


def test_what_nbgrader_takes_back_is_only_its_last_step(db_url):
    with one_transaction(db_url), Gradebook(db_url) as gradebook:
        gradebook.add_student("ada")
        with pytest.raises(InvalidEntry):
            gradebook.add_student("ada")
        gradebook.add_student("grace")
    assert sorted(students(db_url)) == ["ada", "grace"]


def test_a_server_is_left_alone():
    with one_transaction("postgresql://nowhere.invalid/gradebook"):
        pass


def test_a_whole_submission_is_one_transaction(classroom, monkeypatch):
    only(classroom, "mistake-1")
    path, seen = classroom / "gradebook.db", []
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    share_engines()
    (chosen,) = folder.submissions(UNIT)
    outcome = grade_submission(graded_unit(UNIT, classroom), chosen, folder.limits)
    write = writer.write

    def watched(folder, outcome):
        seen.append(changes(path))
        write(folder, outcome)
        assert students(folder.db_url) == []
        seen.append(changes(path))

    monkeypatch.setattr(writer, "write", watched)
    assert writer.write_all(folder, outcome, with_feedback=False).is_whole
    assert seen[0] == seen[1] == changes(path) - 1
    assert scores(classroom) == {"mistake-1": EXPECTED["mistake-1"]}


def test_a_gradebook_that_another_has_locked_fails_closed(classroom):
    only(classroom, "perfect-one")
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    other = sqlite3.connect(file_of(folder.db_url), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        done = grade(classroom, "--no-feedback")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert done.exit_code == 1
    assert "perfect-one: failed: " in done.output and "locked" in done.output
    assert grade(classroom, "--no-feedback").exit_code == 0
    assert scores(classroom) == {"perfect-one": 70.0}
