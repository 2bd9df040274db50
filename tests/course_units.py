"""The units of the course as parameters of a test."""

import pytest

from autograder.course import load_course

ONE = 4


def one_unit_or_all() -> list:
    """Return every unit: one for `make test`, the others for `make test-slow`."""
    return [
        pytest.param(
            unit, id=unit.slug, marks=[] if unit.number == ONE else pytest.mark.slow
        )
        for unit in load_course().units
    ]
