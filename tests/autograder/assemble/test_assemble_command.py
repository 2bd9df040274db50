"""`course notebooks` on the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import autograder.course
from autograder.commands.app import app
from autograder.course import Course


@pytest.fixture
def course(pocket: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Make the command work on the pocket course."""
    monkeypatch.setattr(autograder.course, "ROOT", pocket.root)
    return pocket


def run(*arguments: str) -> tuple[int, str]:
    """Run the command, and return its exit status and all printed text."""
    done = CliRunner().invoke(app, ["notebooks", *arguments])
    return done.exit_code, done.output


def test_it_says_what_it_made(course: Course) -> None:
    status, output = run()
    assert status == 0
    assert "assignments/01_sums made" in output
    assert run() == (0, "2 units assembled.\n")


def test_check_fails_on_what_is_outdated(course: Course) -> None:
    status, output = run("--check")
    assert status == 1
    assert "assignments/01_sums is outdated" in output
    assert "Run `make notebooks`." in output
    assert not course.release_dir(course.unit("1")).exists()
    run()
    assert run("--check")[0] == 0


def test_unknown_unit(course: Course) -> None:
    status, output = run("01_summs")
    assert status == 1
    assert "unknown unit '01_summs': did you mean 01_sums?" in output


def test_errors_are_printed_without_a_traceback(course: Course, edit) -> None:
    edit("solutions/notebooks/01_sums/01_sums.md", ":points: 70", ":points: 60")
    status, output = run("1")
    assert status == 1
    assert "the points add up to 90" in output
    assert "Nothing was changed." in output
    assert "Traceback" not in output
