"""Without a sandbox, nothing is graded until the instructor agrees."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_grading import UNIT, grade, only, scores

from autograder.class_report.gathering import gather
from autograder.class_report.page import page_of
from autograder.classroom.folder import ClassFolder
from autograder.sandbox import bubblewrap, prestart
from autograder.sandbox.control_channel import NoParent
from autograder.sandbox.fork_server_client import start_parent
from autograder.sandbox.limits import Limits


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make bubblewrap impossible to find."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    bubblewrap.sandbox_kind.cache_clear()
    yield
    bubblewrap.sandbox_kind.cache_clear()


@pytest.mark.integration
def test_grade_refuses_without_a_sandbox(
    classroom: Path, without_bubblewrap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSE_UNPROTECTED", raising=False)
    done = grade(classroom)
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert "--unprotected" in done.output and "bubblewrap" in done.output
    assert not (classroom / "gradebook.db").exists()


@pytest.mark.integration
def test_an_unprotected_run_says_so_in_line_log_and_report(
    classroom: Path, without_bubblewrap: None
) -> None:
    only(classroom, "perfect-one")
    prestart.end()
    done = grade(classroom, "--unprotected", "--workers", "1")
    assert done.exit_code == 0, done.output
    assert scores(classroom)["perfect-one"] > 0
    last = done.output.strip().splitlines()[-1]
    assert last == "UNPROTECTED: 1 of 1 ran without a sandbox."
    log = (classroom / "grading" / "audit.jsonl").read_text(encoding="utf-8")
    assert json.loads(log.splitlines()[-1])["sandbox"] == "none"
    report = gather(ClassFolder(classroom), UNIT)
    assert report.unprotected == 1
    assert "ran without a sandbox: 1." in page_of(report)


def test_a_parent_that_is_gone_is_not_taken_for_a_missing_notebook() -> None:
    parent = start_parent("none", wait=False)
    parent.close()
    with pytest.raises(NoParent):
        parent.fork(Limits())


def test_bubblewrap_is_looked_for_on_the_path(tmp_path: Path) -> None:
    ask = "from autograder.sandbox.bubblewrap import sandbox_kind as k; print(k())"
    done = subprocess.run(
        [sys.executable, "-c", ask],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "none\n"
