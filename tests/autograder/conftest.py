"""A tiny course and class, a pocket course, the pre-warmed parent, and students."""

import functools
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from programs import PROGRAMS, require

from autograder.assemble.assembler import assemble
from autograder.course import Course, load_course
from autograder.proof.sample_class import write_sample_class
from autograder.sandbox import LocalStudent
from autograder.sandbox.fork_server_client import (
    ForkServerClient,
    start_parent,
)
from autograder.sandbox.limits import Limits
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import GradedUnit, graded_unit

collect_ignore = ["tiny_course", "pocket_course"]
TINY = Path(__file__).with_name("tiny_course")
POCKET = Path(__file__).with_name("pocket_course")  # for tests without torch
# For classes with endless loops. A whole submission takes half a second.
QUICK_SETTINGS = {"cell_seconds": 3, "exercise_seconds": 3, "submission_seconds": 60}
# For submissions that end. A crowded machine may need more time.
PATIENT = Limits(cell_seconds=60, exercise_seconds=60, submission_seconds=300)
SETTINGS = """
from pathlib import Path
from autograder.nbgrader_steps.settings import configure

c = get_config()
configure(c, Path(__file__).parent)
c.RunHiddenChecks.limits = QUICK
"""


@pytest.fixture(scope="session")
def tiny_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Assemble the tiny course once."""
    root = tmp_path_factory.mktemp("tiny") / "course"
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "solutions"))
        assemble(load_course(root), [])
        yield root


@pytest.fixture
def tiny_class(tiny_root: Path, tmp_path: Path) -> Path:
    """Copy the assembled tiny course, so that a test can grade a class in it."""
    return shutil.copytree(tiny_root, tmp_path / "class")


@pytest.fixture(scope="session")
def make_classroom(tiny_root: Path) -> Callable[[Path], Path]:
    """Make a class's folder with its twelve submissions."""

    def made_at(place: Path) -> Path:
        root = shutil.copytree(tiny_root, place)
        text = SETTINGS.replace("QUICK", repr(QUICK_SETTINGS))
        (root / "nbgrader_config.py").write_text(text)
        write_sample_class("01_tiny", root / "submitted", root)
        return root

    return made_at


@pytest.fixture
def classroom(make_classroom: Callable[[Path], Path], tmp_path: Path) -> Path:
    """Return a class's folder with its twelve submissions."""
    return make_classroom(tmp_path / "class")


@pytest.fixture(scope="session")
def tiny_unit(tiny_root: Path) -> GradedUnit:
    """Return the only unit of the tiny course."""
    return graded_unit("01_tiny", tiny_root)


@pytest.fixture(scope="session")
def parents() -> Iterator[Callable[[str], ForkServerClient]]:
    """Start pre-warmed parents on request: "sandbox" or "none"."""
    made: dict[str, ForkServerClient] = {}

    def parent_of(kind: str) -> ForkServerClient:
        if kind == "sandbox":
            require("bubblewrap")
        if kind not in made:
            made[kind] = start_parent("none" if kind == "none" else None)
        return made[kind]

    yield parent_of
    for parent in made.values():
        parent.close()


# `.ci/without-programs make test` runs all of these tests without a sandbox.
CHILD = "sandbox" if PROGRAMS["bubblewrap"].is_there() else "none"


@pytest.fixture(params=[CHILD])
def parent(request: pytest.FixtureRequest, parents: Callable) -> ForkServerClient:
    """Return a pre-warmed parent, in the sandbox if one is available."""
    return parents(request.param)


@pytest.fixture
def remote(parent: ForkServerClient) -> Callable[..., SubmissionRunner]:
    """Make students whose code cells run in child processes."""
    return functools.partial(make_students, parent)


def make_students(
    parent: ForkServerClient, *cells: str, limits: Limits = PATIENT, **files: bytes
) -> SubmissionRunner:
    """Make students whose code cells run in children of `parent`."""
    return SubmissionRunner(parent, list(cells), files, limits)


@pytest.fixture(params=["local", CHILD])
def students(request: pytest.FixtureRequest, parents: Callable) -> Callable:
    """Make students whose code cells run in this process or in a child."""
    if request.param == "local":
        return lambda *cells: LocalStudent(cells)
    return functools.partial(make_students, parents(request.param))


@pytest.fixture
def pocket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Course]:
    """Copy the pocket course, make it importable, and load it."""
    root = tmp_path / "course"
    shutil.copytree(POCKET, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(str(root / "solutions"))
    yield load_course(root)
    for name in [name for name in sys.modules if name.split(".")[0] == "pocket"]:
        del sys.modules[name]


@pytest.fixture
def edit(pocket: Course) -> Callable[[str, str, str], None]:
    """Replace text in a file of the pocket course."""

    def replace(path: str, old: str, new: str) -> None:
        file = pocket.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace


@pytest.fixture
def contents() -> Callable[[Path], dict[str, bytes]]:
    """Read every file under a folder."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    return read
