"""A unit that receives another unit's notebook says so, and gives no zero points."""

from pathlib import Path

import pytest
from sets import first_of

from autograder.course import load_course
from autograder.grading.submission import repair
from autograder.repair import Refused, read_submission
from autograder.unit import GradedUnit, Submission, graded_unit

COURSE = load_course()
UNITS = [unit.slug for unit in COURSE.units]


def repaired(unit: GradedUnit, path: Path) -> None:
    repair(unit, Submission("ada", unit.slug, path), read_submission(path))


@pytest.mark.integration
@pytest.mark.parametrize("slug", first_of(UNITS))
def test_the_notebook_of_any_other_unit_is_refused(slug: str) -> None:
    unit = graded_unit(slug)
    for other in COURSE.units:
        released = COURSE.release_notebook(other)
        for path in (released, COURSE.answer_notebook(other)):
            if other.slug == slug:
                repaired(unit, path)
                continue
            with pytest.raises(Refused, match="another unit"):
                repaired(unit, path)
