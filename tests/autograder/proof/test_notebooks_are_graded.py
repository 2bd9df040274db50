"""An answer notebook earns every point of the checks, a released one none.

`.ci/run` grades a sample class of every unit, and compares each score.
"""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.course import Unit, load_course
from autograder.grading.hidden_checks import checks_with_points
from autograder.grading.outcome import Outcome
from autograder.grading.submission import grade_submission
from autograder.sandbox.fork_server_client import ForkServerClient, start_parent
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission, graded_unit

COURSE = load_course()
WRITTEN = [unit for unit in COURSE.units if COURSE.master(unit).exists()]
PATIENT = Limits(cell_seconds=600, exercise_seconds=600, submission_seconds=3600)


@pytest.fixture(scope="module")
def parent() -> Iterator[ForkServerClient]:
    warm = start_parent()
    yield warm
    warm.close()


@pytest.fixture(scope="module")
def unit() -> Unit:
    return COURSE.unit("04")


def graded(unit: GradedUnit, path: Path, parent: ForkServerClient) -> Outcome:
    submission = Submission("somebody", unit.slug, path)
    return grade_submission(unit, submission, PATIENT, parent)


@pytest.fixture(scope="module")
def answers(unit: Unit, parent: ForkServerClient) -> Outcome:
    """Grade the unit's answer notebook once."""
    return graded(graded_unit(unit.slug), COURSE.answer_notebook(unit), parent)


@pytest.mark.integration
def test_the_answers_earn_everything(answers: Outcome) -> None:
    lost = [r for r in answers.results if r.status != "passed"]
    assert [(r.name, r.status, r.message) for r in lost] == []
    assert answers.score == answers.max_score > 0


@pytest.mark.integration
def test_the_released_notebook_earns_nothing(
    unit: Unit, parent: ForkServerClient
) -> None:
    result = graded(graded_unit(unit.slug), COURSE.release_notebook(unit), parent)
    assert result.score == 0
    assert all(r.status in ("failed", "not run") for r in result.results)


@pytest.mark.integration
def test_every_check_is_run(answers: Outcome) -> None:
    unit = graded_unit(answers.submission.slug)
    assert len(answers.results) == len(checks_with_points(unit))
    assert [r.name for r in answers.results if r.status == "not run"] == []


@pytest.mark.parametrize("unit", WRITTEN, ids=lambda unit: unit.slug)
def test_a_unit_has_100_points(unit: Unit) -> None:
    notebook = nbformat.read(COURSE.release_notebook(unit), as_version=4)
    points = [c.metadata.get("nbgrader", {}).get("points", 0) for c in notebook.cells]
    assert sum(points) == 100
