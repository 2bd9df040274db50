"""A tiny course and a class's folder for the tests of an instructor's evening."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lms_archives import UNIT, answered

from autograder.classroom.folder import ClassFolder

REPOSITORY = Path(__file__).parents[2]
TINY = Path(__file__).parents[1] / "autograder" / "tiny_course"
ROSTER = """id,first_name,last_name,email,lms_user_id
al1815,Ada,Lovelace,ada@example.org,101
en1882,Emmy,Noether,noether@example.org,102
eg1811,Évariste,Galois,galois@example.org,103
sd1781,Siméon Denis,Poisson,poisson@example.org,104
"""
ASSEMBLE = """
import sys
from pathlib import Path
from autograder.assemble.assembler import assemble
from autograder.course import load_course

assemble(load_course(Path(sys.argv[1])))
"""


@pytest.fixture(scope="module", autouse=True)
def tiny_package() -> Iterator[None]:
    """Make the tiny course's package importable.

    Other tests import a different copy.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TINY / "solutions"))
        yield
    for name in [name for name in sys.modules if name.split(".")[0] == "tiny"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def tiny_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Assemble the tiny course once, with an empty gradebook."""
    root = tmp_path_factory.mktemp("tiny") / "course"
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__"))
    paths = os.pathsep.join([str(root / "solutions"), str(REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-c", ASSEMBLE, str(root)]
    subprocess.run(command, env=environment, check=True)
    ClassFolder(root).register(UNIT)
    return root


@pytest.fixture
def root(tiny_root: Path, tmp_path: Path) -> Path:
    """Copy the assembled tiny course, so that a test can collect a class in it."""
    return Path(shutil.copytree(tiny_root, tmp_path / "class"))


@pytest.fixture
def folder(root: Path) -> ClassFolder:
    """Return the class's folder."""
    return ClassFolder(root)


@pytest.fixture(scope="session")
def notebook(tiny_root: Path) -> bytes:
    """Return a released notebook."""
    return (tiny_root / "assignments" / UNIT / f"{UNIT}.ipynb").read_bytes()


@pytest.fixture(scope="session")
def numbered(notebook: bytes):
    """Return a function whose notebooks differ for different numbers."""
    return lambda number: answered(notebook, {"why": f"Answer {number}."})


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    """Write the roster of a class of four."""
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER, encoding="utf-8")
    return path
