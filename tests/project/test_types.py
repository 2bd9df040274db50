"""The type checker finds no mistake in the model and the autograder."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.integration
def test_the_type_checker_finds_nothing():
    command = [sys.executable, "-m", "mypy", "--cache-dir", ".mypy_cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"
