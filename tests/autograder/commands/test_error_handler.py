"""An error becomes a sentence with a remedy, and an exit status."""

import errno
import logging
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, InvalidEntry, Student
from sqlalchemy import text
from sqlalchemy.exc import OperationalError, PendingRollbackError
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import reason_of
from autograder.commands import error_handler
from autograder.commands.app import app
from autograder.gradebook import GradebookError, make_gradebook, require_gradebook
from autograder.library_log import log_of, log_warnings
from autograder.sandbox import prestart

CLASS_COMMANDS = {"grade": ["04"], "report": ["04"], "similar": ["04"]}
NOTEBOOK = "Ada Lovelace - 04_attention.ipynb"


def run(root: Path, *words: object):
    """Run a command in a class's folder. Its output never contains a traceback."""
    arguments = [str(word) for word in words]
    done = CliRunner().invoke(app, [*arguments, "--course-root", str(root)])
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert "Traceback" not in done.output
    return done


def said(done) -> str:
    return " ".join(done.output.split())


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    path = tmp_path / NOTEBOOK
    path.write_text('{"cells": []}')
    return path


@pytest.mark.parametrize("command", CLASS_COMMANDS)
def test_a_folder_that_is_not_there(tmp_path: Path, command: str) -> None:
    done = run(tmp_path / "nowhere", command, *CLASS_COMMANDS[command])
    assert done.exit_code == 2
    assert "nowhere is not there: go to the class's folder" in said(done)


@pytest.mark.parametrize("command", CLASS_COMMANDS)
def test_the_wrong_folder_stays_as_it_is(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, command, *CLASS_COMMANDS[command])
    assert done.exit_code == 2
    assert "--course-root" in said(done)
    assert not (tmp_path / "gradebook.db").exists()
    assert not (tmp_path / "report").exists()


def test_a_student_who_is_not_there_is_asked_about(tmp_path: Path, handed_in) -> None:
    assert run(tmp_path, "collect", handed_in).exit_code == 0
    before = sorted(tmp_path.rglob("*"))
    done = run(tmp_path, "grade", "04", "--student", "ada-lovelac")
    assert done.exit_code == 2
    assert "ada-lovelac has handed in nothing of 04_attention: did you mean " in (
        said(done)
    )
    assert "ada-lovelace?" in said(done)
    assert not [path for path in tmp_path.rglob("*") if path not in before
                and "warm" not in path.name and "log" not in path.name]  # fmt: skip


@pytest.mark.parametrize("command", ["collect", "grade", "report"])
def test_a_damaged_gradebook(tmp_path: Path, handed_in: Path, command: str) -> None:
    place = tmp_path / "submitted" / "ada" / "04_attention" / "04_attention.ipynb"
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    (tmp_path / "gradebook.db").write_bytes(b"no database at all" * 99)
    what = handed_in if command == "collect" else "04"
    done = run(tmp_path, command, what)
    assert done.exit_code == 2
    assert "gradebook.db is damaged" in said(done)
    assert "put a copy of it back, or move it away and grade again" in said(done)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("c = get_config(\n", "line 1: SyntaxError"),
        ("c = get_config()\n\nc.X = nothing\n", "line 3: NameError: name 'nothing'"),
        ("import nothing_of_this_name\n", "line 1: ModuleNotFoundError"),
    ],
)
@pytest.mark.parametrize("command", ["collect", *CLASS_COMMANDS])
def test_a_mistake_in_the_settings(
    tmp_path: Path, handed_in: Path, command: str, settings: str, words: str
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(settings)
    what = handed_in if command == "collect" else "04"
    done = run(tmp_path, command, what)
    assert done.exit_code == 2
    assert f"nbgrader_config.py, {words}" in said(done)
    assert "Fix it, or copy the course's file again" in said(done)


def test_a_mistake_in_the_course_names_its_own_file(tmp_path: Path) -> None:
    settings = "from autograder.course import CourseError\n"
    settings += "raise CourseError('course.toml: [late]: expected a number')\n"
    (tmp_path / "nbgrader_config.py").write_text(settings)
    done = run(tmp_path, "grade", "04")
    assert done.exit_code == 2
    assert said(done) == "course.toml: [late]: expected a number"


@pytest.mark.parametrize("command", ["collect", "marks", "similar", "return"])
def test_the_lines_of_a_help_page_are_full(command: str) -> None:
    """A line ends where the next word would exceed 80 columns."""
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, [command, "--help"])
    text = [line.strip() for line in done.output.partition("╭")[0].splitlines()]
    for line, following in pairwise(text):
        if line and following:
            assert len(f"{line} {following.split()[0]}") > 78, line


def test_a_limit_that_is_not_known(tmp_path: Path) -> None:
    settings = 'get_config().RunHiddenChecks.limits = {"seconds": 3}\n'
    (tmp_path / "nbgrader_config.py").write_text(settings)
    done = run(tmp_path, "grade", "04")
    assert done.exit_code == 2
    assert "nbgrader_config.py: limits: " in said(done)
    assert "'seconds'" in said(done)


def errors_of_a_full_gradebook(tmp_path: Path) -> Iterator[Exception]:
    """Yield the errors of a new entry, of a write, and of the query after a write."""
    url = f"sqlite:///{tmp_path}/gradebook.db"
    make_gradebook(url)
    with Gradebook(url) as gradebook:
        gradebook.db.execute(text("PRAGMA max_page_count = 1"))
        long = "a" * 100_000
        with pytest.raises(InvalidEntry) as entry:
            gradebook.add_student("ada", first_name=long)
        yield entry.value
        gradebook.db.add(Student(id="ada", first_name=long))
        with pytest.raises(OperationalError) as write:
            gradebook.db.flush()
        yield write.value
        with pytest.raises(PendingRollbackError) as query:
            gradebook.db.query(Student).all()
        yield query.value
        gradebook.db.rollback()


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_a_full_disk_is_named_for_each_error_of_the_gradebook(tmp_path: Path) -> None:
    errors = [*errors_of_a_full_gradebook(tmp_path)]
    assert len(errors) == 3
    for error in errors:
        assert error_handler.sentence_of(error).startswith("The disk is full: free")
        assert reason_of(error) == "the disk is full: free some space, and grade again"


FULL = OperationalError("INSERT", {}, Exception("database or disk is full"))
PROBLEMS = {
    "full disk": (OSError(errno.ENOSPC, "No space", "x"), "The disk is full: free"),
    "gradebook on a full disk": (FULL, "The disk is full: free some space"),
    "read-only disk": (OSError(errno.EROFS, "Read-only", "/class/x"),
                       "/class/x is on a read-only disk: choose"),
    "no right": (PermissionError(errno.EACCES, "denied", "/class/x"),
                 "You may not read or write /class/x: change its permissions"),
    "a gradebook that others hold": (
        OperationalError("BEGIN", {}, Exception("database is locked")),
        "The gradebook cannot be used (database is locked): look whether"),
    "Ctrl-C": (KeyboardInterrupt(), "Stopped. Finished work is kept. Run the same"),
}  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_fails_while_writing(
    tmp_path: Path, handed_in: Path, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, words = PROBLEMS[problem]

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("autograder.collect.collecting.atomic_write", fail)
    monkeypatch.setattr("autograder.collect.submission_store.atomic_write", fail)
    monkeypatch.setattr("autograder.collect.match_students.atomic_write", fail)
    done = run(tmp_path, "collect", handed_in)
    assert done.exit_code == (130 if problem == "Ctrl-C" else 2)
    assert words in said(done)
    assert len(done.output.splitlines()) == 1


def test_a_target_that_cannot_be_published_to() -> None:
    done = CliRunner().invoke(app, ["publish", "/dev/null/public", "--no-site"])
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert said(done).startswith("/dev/null")
    assert said(done).endswith("check the path.")


def test_a_mistake_of_the_makers_keeps_its_traceback(monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("autograder.publish.publish", fail)
    done = CliRunner().invoke(app, ["publish", "x"])
    assert isinstance(done.exception, ZeroDivisionError)


INTERRUPTED = """
import builtins
real = builtins.__import__
def pressed(name, *rest):
    if name == {name!r}:
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = pressed
import sys
sys.argv = ["course", "grade", "04"]
from autograder.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("typer", "Stopped before anything was done."),
        ("autograder.classroom.grading_run", error_handler.STOPPED),
    ],
)
def test_ctrl_c_in_the_start_up(tmp_path: Path, name: str, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name=name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 130
    assert done.stderr.strip() == words
    assert done.stdout == ""


def test_what_libraries_warn_of_goes_to_a_log(tmp_path: Path, capsys) -> None:
    logging.captureWarnings(False)  # from an earlier test
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        log_warnings(tmp_path)
        warnings.warn("a relationship will copy a column", stacklevel=1)
    assert capsys.readouterr().err == ""
    log = log_of(tmp_path)
    assert "a relationship will copy a column" in log.read_text()


LOGGING = """
import sys
from pathlib import Path
from multiprocessing.connection import Pipe
from autograder.classroom import writer
from tornado.log import app_log

def fail(folder, *_):
    app_log.exception("Rolling back", exc_info=OSError("database or disk is full"))
    return writer.Written("graded")

writer.show = fail
ours, theirs = Pipe()
ours.send(("feedback", (None,)))
ours.close()
writer.serve(theirs, Path(sys.argv[1]), None)
"""


@pytest.mark.integration
def test_what_nbgrader_logs_of_an_error_goes_to_the_log_too(tmp_path: Path) -> None:
    """It logs a traceback of about a hundred lines, and also raises the error."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGING, str(tmp_path)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "OSError: database or disk is full" in log_of(tmp_path).read_text()


@pytest.mark.parametrize("command", ["collect", "grade", "report"])
def test_a_driver_that_is_missing_is_the_same_sentence(
    tmp_path: Path, handed_in: Path, command: str, monkeypatch
) -> None:
    address = "postgresql+psycopg://course:s3cret@127.0.0.1/grades"
    (tmp_path / "nbgrader_config.py").write_text(
        f"get_config().CourseDirectory.db_url = {address!r}\n"
    )
    monkeypatch.setitem(sys.modules, "psycopg", None)
    done = run(tmp_path, command, handed_in if command == "collect" else "04")
    assert done.exit_code == 2
    assert "`pip install 'psycopg[binary]'`" in said(done)
    assert "s3cret" not in done.output


@pytest.mark.integration
def test_a_whole_gradebook_is_no_problem(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/gradebook.db"
    require_gradebook(address)
    assert os.listdir(tmp_path) == []
    ClassFolder(tmp_path)
    with Gradebook(address):
        pass
    require_gradebook(address)
    path = tmp_path / "gradebook.db"
    path.write_bytes(b"x" * 5000)
    with pytest.raises(GradebookError, match="is damaged"):
        require_gradebook(address)


def test_what_is_started_beside_does_not_hear_ctrl_c(monkeypatch) -> None:
    heard = []
    monkeypatch.setattr(prestart, "begin", lambda: None)
    monkeypatch.setattr(
        prestart.forkserver,
        "ensure_running",
        lambda: heard.append(signal.getsignal(signal.SIGINT)),
    )
    before = signal.getsignal(signal.SIGINT)
    prestart.prepare()
    assert heard == [signal.SIG_IGN]
    assert signal.getsignal(signal.SIGINT) == before
