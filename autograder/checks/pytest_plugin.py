"""Let pytest run hidden checks on a notebook: `pytest CHECKS --student NOTEBOOK`."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.checking.random_inputs import Draw
from autograder.course import load_course
from autograder.sandbox import LocalStudent, SubmissionProxy
from autograder.unit import cells_to_run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the notebook to check."""
    group = parser.getgroup("hidden checks")
    group.addoption("--student", help="the notebook to check, trusted: it runs here")


@pytest.fixture(scope="session")
def notebook_under_check(request: pytest.FixtureRequest) -> SubmissionProxy:
    """Run the notebook's cells once, and return its functions."""
    path = request.config.getoption("--student")
    if path is None:
        pytest.skip("hidden checks need --student NOTEBOOK")
    return LocalStudent(cells_to_run(nbformat.read(Path(path), as_version=4)))


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Draw:
    """Return the source of one check's random inputs."""
    assignment = request.path.stem.removeprefix("test_")
    return Draw(assignment, request.node.name, load_course().draw_number)


@pytest.fixture
def student(notebook_under_check: SubmissionProxy, draw: Draw) -> Any:
    """Return the student's functions, with the seed of this check."""
    notebook_under_check.begin(draw.seed)
    return notebook_under_check
