"""Grading does not import the grammar of IRIs, which would take a second."""

import subprocess
import sys

import pytest


@pytest.mark.integration
def test_grading_does_without_the_grammar() -> None:
    code = (
        "import inspect, sys, autograder.classroom.workers, nbformat\n"
        "from nbformat.v4 import new_notebook\n"
        "nbformat.validate(new_notebook())\n"
        "inspect.getmodule(inspect.currentframe())\n"
        "print('lark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["False"]
