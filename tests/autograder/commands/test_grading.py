"""The output of `course grade` for a unit, whatever the students' names are."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from autograder.commands.console import show
from autograder.commands.grading import _tell, line_of
from autograder.grading.outcome import Outcome
from autograder.unit import Submission

NAMES = ["[/x]", "[red]kim[/red]", "[link=file:///]a[/link]", ":boom:", "\x1b[31mz"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_in_the_table_and_in_its_line(name):
    submission = Submission(name, "04_attention", Path("submitted"))
    outcomes = [
        Outcome(submission, "refused", f"{name} is no notebook"),
        Outcome(submission, "graded", doubtful=[f"look at {name}"]),
    ]
    console = Console(file=io.StringIO(), width=80)
    _tell("04_attention", outcomes, console)
    show(console, *map(line_of, outcomes))
    shown = console.file.getvalue()
    seen = name.replace("\x1b", "")
    assert shown.count(seen) >= 4
    assert "\x1b" not in shown
