"""A mistake costs points once: later exercises also run with our earlier answers."""

import contextlib
import dataclasses

import pytest
from tiny_grading import filled_in

from autograder.grading.check_results import scores_of
from autograder.grading.points import run_checks
from autograder.sandbox import LocalStudent
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import GradedUnit, cells_to_run, our_answers

pytestmark = pytest.mark.integration

WRONG = {
    "square": "def double(x):\n    return x * x\n",
    "raises": "def double(x):\n    raise ValueError\n",
    "nothing": "def double(x):\n    pass\n",
    "no Python": "def double(x:\n",
}
TWICE = "def quadruple(x):\n    return double(double(x))\n"


@pytest.fixture(params=["here", "in children", "in forks"])
def results_of(request, tiny_unit: GradedUnit):
    """Run the checks on answers to the exercises double and quadruple."""

    def results(double: str, quadruple: str = TWICE, **kwargs):
        notebook = filled_in(tiny_unit, double=double, quadruple=quadruple)
        ours = our_answers(tiny_unit.answers, notebook)
        cells = cells_to_run(notebook)
        if request.param == "here":
            student = LocalStudent(cells, answers=ours)
        else:
            parent = request.getfixturevalue("parents")("none")
            student = SubmissionRunner(parent, cells, {}, answers=ours)
        forks = request.param == "in forks"
        with student if forks else contextlib.nullcontext():
            only = {"double", "quadruple"}
            return run_checks(tiny_unit, student, only=only, **kwargs)

    return results


@pytest.mark.parametrize("mistake", WRONG)
def test_a_right_later_answer_keeps_its_points(results_of, mistake):
    results = results_of(WRONG[mistake])
    scores = scores_of(results)
    assert scores["quadruple"] == 10
    assert scores["double"] < 20
    assert [r.with_reference_answers for r in results] == [False, False, True]


def test_an_earlier_exercise_that_is_not_written_costs_once(results_of):
    results = results_of(WRONG["nothing"], unwritten={"double"})
    assert scores_of(results) == {"double": 0, "quadruple": 10}


def test_a_wrong_later_answer_stays_wrong(results_of):
    wrong = "def quadruple(x):\n    return 3 * double(x)\n"
    results = results_of(WRONG["square"], wrong)
    assert scores_of(results)["quadruple"] == 0
    assert not any(result.with_reference_answers for result in results)


def test_an_answer_that_makes_up_for_an_own_mistake_keeps_its_points(results_of):
    results = results_of("def double(x):\n    return 3 * x\n", "def quadruple(x):\n"
                         "    return double(x) + x\n")  # fmt: skip
    assert scores_of(results)["quadruple"] == 10
    assert not any(result.with_reference_answers for result in results)


def test_a_helper_in_an_earlier_answer_stays(results_of):
    helper = "def twice(x):\n    return 2 * x\n\ndef double(x):\n    return x\n"
    results = results_of(helper, "def quadruple(x):\n    return twice(double(x))\n")
    assert scores_of(results)["quadruple"] == 10


def test_without_our_answers_nothing_is_mended(tiny_unit):
    bare = dataclasses.replace(tiny_unit, answers={})
    cells = ["import torch", WRONG["square"], TWICE]
    results = run_checks(bare, LocalStudent(cells), only={"double", "quadruple"})
    assert scores_of(results)["quadruple"] == 0
