"""The command `course` as a whole."""

from typer.testing import CliRunner

from autograder.commands.app import app


def test_the_versions_are_said_on_one_line() -> None:
    done = CliRunner().invoke(app, ["--version"])
    said = dict(named.split() for named in done.output.strip().split(", "))
    assert done.exit_code == 0
    assert list(said) == ["transformer-course", "nbgrader", "torch"]
