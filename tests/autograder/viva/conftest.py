"""The results of the solution, from one run in the sandbox."""

import pytest
from viva_students import UNIT_04, proof

from autograder.viva.effects import Result
from autograder.viva.sheets import solution_of


@pytest.fixture(scope="session")
def solution() -> dict[str, Result]:
    return solution_of(proof(UNIT_04).graded)
