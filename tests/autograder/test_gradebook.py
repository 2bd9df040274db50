"""A submission is written in one transaction, and a gradebook gets nbgrader's stamp."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import nbgrader.api
import pytest
from nbgrader.api import Student
from tiny_grading import EXPECTED, UNIT, grade, only, scores

from autograder.classroom import writer
from autograder.classroom.folder import ClassFolder
from autograder.gradebook import find_alembic, make_gradebook, open_transaction
from autograder.grading.submission import grade_submission
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


@pytest.fixture
def db_url(tmp_path: Path) -> str:
    """Return the address of a new gradebook."""
    url = f"sqlite:///{tmp_path}/gradebook.db"
    make_gradebook(url)
    return url


def file_of(db_url: str) -> Path:
    return Path(db_url.removeprefix("sqlite:///"))


def asked(db_url: str, question: str) -> list[tuple]:
    """Return the rows of a query as a different process would see them."""
    connection = sqlite3.connect(file_of(db_url))
    try:
        return connection.execute(question).fetchall()
    finally:
        connection.close()


def students(db_url: str) -> list[str]:
    return [row[0] for row in asked(db_url, "SELECT id FROM student ORDER BY id")]


def changes(path: Path) -> int:
    """Return the number of transactions that a SQLite file has received."""
    return int.from_bytes(path.read_bytes()[24:28], "big")


@pytest.mark.slow
def test_a_new_gradebook_is_made_as_nbgrader_makes_it(db_url, tmp_path):
    find_alembic()
    theirs = f"sqlite:///{tmp_path}/theirs.db"
    code = f"from nbgrader.api import Gradebook\nGradebook({theirs!r}).close()"
    subprocess.run([sys.executable, "-c", code], check=True)
    schema = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
    assert asked(db_url, schema) == asked(theirs, schema)
    version = "SELECT version_num FROM alembic_version"
    assert asked(db_url, version) == asked(theirs, version)


def test_a_gradebook_that_is_there_stays_as_it_is(db_url):
    with open_transaction(db_url) as session:
        session.add(Student(id="ada"))
    before = file_of(db_url).read_bytes()
    make_gradebook(db_url)
    assert file_of(db_url).read_bytes() == before


def test_a_new_gradebook_starts_no_command(tiny_class, monkeypatch):
    def refuse(*_arguments, **_settings):
        raise AssertionError("a command was started")

    monkeypatch.setattr(nbgrader.api.sp, "check_output", refuse)
    ClassFolder(tiny_class).register(UNIT)
    assert (tiny_class / "gradebook.db").is_file()


def test_others_see_all_of_it_or_nothing(db_url):
    before = changes(file_of(db_url))
    with open_transaction(db_url) as session:
        for name in ("ada", "grace"):
            session.add(Student(id=name))
            session.flush()
        assert students(db_url) == []
    assert students(db_url) == ["ada", "grace"]
    assert changes(file_of(db_url)) == before + 1


def test_nothing_is_written_when_it_is_broken_off(db_url):
    broken_off = pytest.raises(RuntimeError, match="broken off")
    with broken_off, open_transaction(db_url) as session:
        session.add(Student(id="ada"))
        session.flush()
        raise RuntimeError("broken off")
    assert students(db_url) == []


def test_a_whole_submission_is_one_transaction(classroom):
    only(classroom, "mistake-1")
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    (chosen,) = folder.submissions(UNIT)
    outcome = grade_submission(graded_unit(UNIT, classroom), chosen, folder.limits)
    before = changes(file_of(folder.db_url))
    assert writer.write_all(folder, outcome, with_feedback=False).is_whole
    assert changes(file_of(folder.db_url)) == before + 1
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
