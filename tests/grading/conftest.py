"""A tiny course and class, the pre-warmed parent, and students made from text."""

import functools
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.assemble import assemble
from autograder.course import load_course
from autograder.graded_unit import GradedUnit, graded_unit
from autograder.sample_class import write_sample_class
from autograder.student import LocalStudent
from autograder.student.limits import Limits
from autograder.student.remote import RemoteStudents
from autograder.student.sandbox import sandbox_kind
from autograder.student.warm_parent import Unprotected, WarmParent

collect_ignore = ["tiny_course"]
TINY = Path(__file__).with_name("tiny_course")
# For classes in which somebody loops for ever; a whole submission takes half a second.
QUICK_SETTINGS = {"cell_seconds": 3, "exercise_seconds": 3, "submission_seconds": 60}
# For everything that comes to an end: a crowded machine may take its time.
PATIENT = Limits(cell_seconds=60, exercise_seconds=60, submission_seconds=300)
SETTINGS = """
from pathlib import Path
from autograder.nbgrader_settings import configure

c = get_config()
configure(c, Path(ROOT))
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
    """Copy the assembled tiny course: a class may be graded in it."""
    return shutil.copytree(tiny_root, tmp_path / "class")


@pytest.fixture(scope="session")
def make_classroom(tiny_root: Path) -> Callable[[Path], Path]:
    """Make a class's folder with its twelve submissions at a place."""

    def made_at(place: Path) -> Path:
        root = shutil.copytree(tiny_root, place)
        text = SETTINGS.replace("ROOT", repr(str(root)))
        text = text.replace("QUICK", repr(QUICK_SETTINGS))
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
    """Return the tiny course's one unit."""
    return graded_unit("01_tiny", tiny_root)


@pytest.fixture(scope="session")
def parents() -> Iterator[Callable[[str], WarmParent]]:
    """Start pre-warmed parents when they are asked for: "sandbox" or "none"."""
    made: dict[str, WarmParent] = {}

    def parent_of(kind: str) -> WarmParent:
        if kind == "sandbox" and sandbox_kind() == "none":
            pytest.skip("bubblewrap does not work here")
        if kind not in made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Unprotected)
                made[kind] = WarmParent("none" if kind == "none" else None)
        return made[kind]

    yield parent_of
    for parent in made.values():
        parent.close()


@pytest.fixture(params=["sandbox", "none"])
def parent(request: pytest.FixtureRequest, parents: Callable) -> WarmParent:
    """Return a pre-warmed parent, in the sandbox and without one."""
    return parents(request.param)


@pytest.fixture
def remote(parent: WarmParent) -> Callable[..., RemoteStudents]:
    """Make students of code cells that run in children."""
    return functools.partial(make_students, parent)


def make_students(
    parent: WarmParent, *cells: str, limits: Limits = PATIENT, **files: bytes
) -> RemoteStudents:
    """Make students of code cells that run in children of ``parent``."""
    return RemoteStudents(parent, list(cells), files, limits)


@pytest.fixture(params=["local", "sandbox", "none"])
def students(request: pytest.FixtureRequest, parents: Callable) -> Callable:
    """Make students of code cells, in this process or in a child."""
    if request.param == "local":
        return lambda *cells: LocalStudent(cells)
    return functools.partial(make_students, parents(request.param))
