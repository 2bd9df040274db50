"""Where there is no sandbox, grading warns, once and in clear words, and goes on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import bubblewrap
from autograder.sandbox.control_channel import NoParent
from autograder.sandbox.fork_server_client import Unprotected, start_parent
from autograder.sandbox.limits import Limits


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bubblewrap be found nowhere."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    bubblewrap.sandbox_kind.cache_clear()
    yield
    bubblewrap.sandbox_kind.cache_clear()


def test_a_parent_without_a_sandbox_says_so(without_bubblewrap) -> None:
    with pytest.warns(Unprotected, match="Grade on Linux with bubblewrap"):
        parent = start_parent(wait=False)
    try:
        assert not parent.is_protected
    finally:
        parent.close()


@pytest.mark.filterwarnings("ignore::autograder.sandbox.fork_server_client.Unprotected")
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
