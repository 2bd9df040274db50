"""Commands about a graded class start without the packages that only grading needs."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from tiny_grading import UNIT, only

from autograder.classroom.folder import ClassFolder

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
STUDENT = "perfect-one"
CODE = """
import json, sys
from autograder.commands.app import app

for words in json.loads(sys.argv[1]):
    status = app(words, standalone_mode=False)
    assert not status, (words, status)
print(json.dumps([*sys.modules]))
"""


def imported_by(*commands: Iterable[str]) -> set[str]:
    """Run commands of `course` in a new process, and return all imported modules."""
    asked = json.dumps([[*words] for words in commands])
    done = subprocess.run(
        [sys.executable, "-c", CODE, asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_needs_neither_nbgrader_nor_pytorch() -> None:
    found = imported_by(["--help"], ["collect", "--help"], ["report", "--help"])
    assert found & {"torch", "IPython", "nbgrader", "sqlalchemy", "nbformat"} == set()


def test_commands_about_a_class_need_no_pytorch(
    classroom: Path, tmp_path: Path
) -> None:
    only(classroom, STUDENT)
    handed_in = shutil.copytree(classroom / "submitted", tmp_path / "in")
    shutil.copytree(handed_in, classroom / "autograded")
    ClassFolder(classroom).register(UNIT)
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2030-01-15 23:59 UTC")
        gradebook.update_or_create_student(STUDENT)
        gradebook.update_or_create_submission(UNIT, STUDENT)
    at = ["--course-root", str(classroom)]
    found = imported_by(
        ["collect", str(handed_in), *at],
        ["extend", STUDENT, "01", "7", *at],
        ["marks", "01", *at],
        ["report", "01", *at],
    )
    assert "nbgrader.api" in found
    assert found & {"torch", "IPython", "jupytext", "alembic"} == set()
