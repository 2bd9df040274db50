"""One process checks all exercises, and failing ones are repeated in new processes."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from tiny_grading import filled_in

from autograder.grading.check_results import CheckResult, scores_of
from autograder.grading.points import run_checks
from autograder.proof.sample_class import SampleClass
from autograder.sandbox.kit import folder_files
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import GradedUnit, cells_to_run, graded_unit, our_answers

FULL = {"double": 20, "quadruple": 10, "scaler": 40}
DOUBLE = "def double(x):\n    return 2 * x\n"
QUADRUPLE = "def quadruple(x):\n    return 4 * x\n"
SCALER = """class Scaler(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
    def forward(self, x):
        return x * self.weight
"""
COUNTED = "calls = []\ndef double(x):\n    calls.append(x)\n    return 2 * x\n"
SPOILED = """known = len(calls)
def quadruple(x):
    if len(calls) > known + 1:  # of the visible check
        {then}
    return 4 * x
"""


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that records each fork of a child."""
    made: list[bool] = []
    is_forked = SubmissionRunner._is_forked

    def watched(*arguments) -> bool:
        made.append(is_forked(*arguments))
        return made[-1]

    monkeypatch.setattr(SubmissionRunner, "_is_forked", watched)
    return made


@pytest.fixture
def check(
    tiny_unit: GradedUnit, parents: Callable
) -> Callable[..., tuple[list[CheckResult], SubmissionRunner]]:
    """Check answers in forks, and return the results and the students."""

    def checked(double=DOUBLE, quadruple=QUADRUPLE, scaler=SCALER, seconds=60.0):
        answers = {"double": double, "quadruple": quadruple, "scaler": scaler}
        notebook = filled_in(tiny_unit, **answers)
        ours = our_answers(tiny_unit.answers, notebook)
        cells = cells_to_run(notebook)
        students = SubmissionRunner(parents("none"), cells, {}, answers=ours)
        students.limits = replace(students.limits, exercise_seconds=seconds)
        with students:
            return run_checks(tiny_unit, students), students

    return checked


def test_what_passes_is_checked_in_one_process(check, forks):
    results, students = check()
    assert scores_of(results) == FULL
    assert forks == [True]
    assert students.limits_hit == []


def test_what_passes_behind_a_mistake_stays_there(check, forks):
    results, _ = check(double="def double(x):\n    return x * x\n")
    assert scores_of(results) == {**FULL, "double": 6.67}
    assert forks == [True]


@pytest.mark.parametrize(
    "then", ["return x", "raise ValueError", "import os; os._exit(3)"]
)
def test_what_an_earlier_check_has_spoiled_is_checked_anew(check, forks, then):
    results, students = check(COUNTED, SPOILED.format(then=then))
    assert scores_of(results) == FULL
    assert forks == [True, True]
    assert students.limits_hit == []
    assert not any(result.with_reference_answers for result in results)


def test_what_hangs_behind_others_has_all_its_time_alone(check, forks):
    started = time.monotonic()
    results, students = check(
        COUNTED, "import time\n" + SPOILED.format(then="time.sleep(600)"), seconds=8.0
    )
    assert scores_of(results) == FULL
    assert students.limits_hit == []
    assert 2 <= time.monotonic() - started < 8


def test_what_hangs_is_told_once_and_costs_only_itself(check):
    hangs = "def quadruple(x):\n    while True:\n        pass\n"
    results, students = check(quadruple=hangs, seconds=4.0)
    assert scores_of(results) == {**FULL, "quadruple": 0}
    assert students.limits_hit == ["quadruple: time"]
    (told,) = (one.message for one in results if one.exercise == "quadruple")
    assert told == "Not run: stopped after 4 s, because it did not end."


def test_a_later_mistake_is_seen_as_if_nothing_had_run_before(check, forks):
    """For the exercise's first check, the module is in the state after the cells."""
    wrong = SCALER.replace("x * self.weight", "x + self.weight")
    alone, _ = check(scaler=wrong)
    forks.clear()
    results, _ = check(COUNTED, scaler=wrong)
    assert forks == [True, True]
    assert [one for one in results if one.exercise == "scaler"] == [
        one for one in alone if one.exercise == "scaler"
    ]


@pytest.mark.integration
@pytest.mark.parametrize("unit", ["07"])
def test_all_is_judged_as_in_processes_of_their_own(
    unit: str, parents: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SampleClass(unit)
    graded, alone = graded_unit(made.unit.slug), lambda _: None
    together = dict(judged(made, graded, parents("none")))
    monkeypatch.setattr(SubmissionRunner, "still_there", alone)
    assert together == dict(judged(made, graded, parents("none")))
    assert len(set(map(repr, together.values()))) > 5


def judged(
    made: SampleClass, unit: GradedUnit, parent: object
) -> Iterator[tuple[str, list[CheckResult]]]:
    """Yield each sample's results, except for the one that reaches its time limit."""
    for sample in made.samples():
        if sample.student != "looping":
            notebook = made.notebook(sample.answers)
            ours = our_answers(unit.answers, notebook)
            cells = cells_to_run(notebook)
            students = SubmissionRunner(
                parent, cells, folder_files(unit.kit), None, ours
            )
            with students:
                yield sample.student, run_checks(unit, students)
