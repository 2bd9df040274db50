"""A folder with unit 04 of the self-study edition, and notebooks of unit 04."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.publish.contents import write_contents
from autograder.publish.self_study import self_study_files

COURSE = load_course()
WITHOUT_UNIX = COURSE.root / "tests" / "project" / "without_unix.py"
# Packages that grading a class needs, and that a learner does not have.
ABSENT = ("nbgrader", "jupytext", "pytest", "rapidfuzz", "sqlalchemy", "nbclient")
HIDE = f"""
import builtins, os, signal, sys
sys.path.insert(0, {str(WITHOUT_UNIX.parent)!r})
import without_unix
for attribute in ("fork", "forkpty", "getloadavg", "killpg", "setsid", "wait3"):
    delattr(os, attribute)
for attribute in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "setitimer"):
    delattr(signal, attribute)

def import_as_a_learner(name, globals=None, *others, **more):
    asks = (globals or {{}}).get("__name__") or ""
    if asks.partition(".")[0] in without_unix.OURS and name.split(".")[0] in {ABSENT!r}:
        raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    return without_unix.import_as_on_windows(name, globals, *others, **more)

builtins.__import__ = import_as_a_learner
"""


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write units 04 and 05 of the self-study edition."""
    folder = tmp_path_factory.mktemp("self-study")
    units = [COURSE.unit("04"), COURSE.unit("05")]
    more = self_study_files(COURSE, units, "en")
    write_contents(COURSE, units, folder, more, site=False)
    return folder


@pytest.fixture(scope="session")
def without_unix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that hides Unix's modules and the grader's packages.

    Python reads the folder's `sitecustomize` at the start of each process.
    """
    folder = tmp_path_factory.mktemp("without-unix")
    (folder / "sitecustomize.py").write_text(HIDE, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def check(repository: Path, without_unix: Path) -> Callable[..., tuple[int, str]]:
    """Run `python -m transformer.check` in the repository, as a learner does."""

    def run(*arguments: object, folder: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "transformer.check", *map(str, arguments)],
            cwd=repository / folder,
            env={**os.environ, "PYTHONPATH": str(without_unix)},
            capture_output=True,
            encoding="utf-8",
        )
        return done.returncode, done.stdout + done.stderr

    return run
