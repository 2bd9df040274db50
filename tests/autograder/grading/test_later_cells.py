"""An answer counts as it was at its own check, even if a later cell overwrites it."""

from collections.abc import Callable

import pytest
from nbformat.v4 import new_code_cell
from tiny_grading import filled_in

from autograder.grading.check_results import scores_of
from autograder.grading.points import run_checks
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import GradedUnit, cells_to_run, our_answers

FULL = {"double": 20, "quadruple": 10, "scaler": 40}
DOUBLED = "def double(x):\n    return 2 * x\n"
DOUBLE = "def double(x):\n    return twice(x)\n"
QUADRUPLE = "def quadruple(x):\n    return double(torch.add(double(x), 0))\n"
SCALER = """class Scaler(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
    def forward(self, x):
        return x * self.weight
"""
HELPER = "def twice(x):\n    return 2 * x\n"
OVERWRITES = {
    "an experiment": "def double(x):\n    return x + 1\n",
    "a result under the answer's name": "double = double(torch.ones(2))",
    "a result under a helper's name": "twice = twice(torch.ones(2))",
    "deleted": "del double",
    "a loop's variable": "for torch in range(3):\n    pass",
    "a number under a module's name": "nn = 3",
    "everything reset": "%reset -f",
}


@pytest.fixture
def scores(tiny_unit: GradedUnit, parents: Callable) -> Callable[..., dict]:
    """Score the three right answers and an additional cell of the student's."""

    def scored(cell: str, behind: str) -> dict[str, float]:
        notebook = filled_in(
            tiny_unit, double=HELPER + DOUBLE, quadruple=QUADRUPLE, scaler=SCALER
        )
        names = [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]
        notebook.cells.insert(names.index(behind) + 1, new_code_cell(cell))
        ours = our_answers({**tiny_unit.answers, "double": DOUBLED}, notebook)
        students = SubmissionRunner(
            parents("none"), cells_to_run(notebook), {}, answers=ours
        )
        with students:
            return scores_of(run_checks(tiny_unit, students))

    return scored


@pytest.mark.parametrize("behind", ["scaler-check", "double-check"])
@pytest.mark.parametrize("what", OVERWRITES)
def test_a_later_cell_costs_no_points(scores: Callable, what: str, behind: str) -> None:
    assert scores(OVERWRITES[what], behind) == FULL


def test_a_cell_before_the_check_still_counts(scores: Callable) -> None:
    found = scores(OVERWRITES["an experiment"], "double")
    assert found["double"] < FULL["double"]
    assert found["scaler"] == FULL["scaler"]
