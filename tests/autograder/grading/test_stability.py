"""The same submissions get the same report, however often and by whomever graded.

`COURSE_REGRADES=50 COURSE_ANSWER_SEEDS=200` runs these as long as the project promises.
"""

import dataclasses
import os
import random
from collections.abc import Iterable

import pytest
import torch
from tiny_grading import EXPECTED, UNIT, scores, without_times

from autograder.class_report import ClassReport, gather
from autograder.classroom.folder import ClassFolder
from autograder.classroom.grading_run import Choice, run_through
from autograder.course import Unit, load_course
from autograder.grading.points import run_checks
from autograder.proof.judging import answer_cells, slips_at
from autograder.proof.record import found_before
from autograder.sandbox import LocalStudent
from autograder.unit import graded_unit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
REGRADES = int(os.environ.get("COURSE_REGRADES", "3"))
ANSWER_SEEDS = int(os.environ.get("COURSE_ANSWER_SEEDS", "0"))
COURSE = load_course()


def report_of(folder: ClassFolder) -> ClassReport:
    """Return the class's report without its times, which do differ."""
    report = gather(folder, UNIT)
    rows = [
        dataclasses.replace(row, seconds=None, checks=without_times(row.checks))
        for row in report.rows
    ]
    return dataclasses.replace(report, rows=tuple(rows))


@pytest.mark.integration
def test_any_order_and_number_of_workers_give_the_same_report(classroom):
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    unit, luck = graded_unit(UNIT, folder.root), random.Random(0)
    submissions = list(folder.submissions(UNIT))
    reports = []
    for number in range(REGRADES):
        luck.shuffle(submissions)
        choice = Choice(with_feedback=False, workers=1 + number % 3, force=True)
        outcomes = run_through(folder, unit, submissions, lambda outcome: None, choice)
        assert {outcome.status for outcome in outcomes} == {"graded"}
        reports.append(report_of(folder))
    assert scores(classroom) == EXPECTED
    for number, report in enumerate(reports):
        assert report == reports[0], f"regrade {number} differs"


def false_alarms(unit: Unit, seeds: Iterable[int]) -> list[str]:
    """Run the answers through all hidden checks at seeds; return what they find."""
    graded = graded_unit(unit.slug, COURSE.root)
    student = LocalStudent(answer_cells(COURSE, unit))
    return [
        slip
        for seed in seeds
        for slip in slips_at(seed, run_checks(graded, student, seed), False)
    ]


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_no_answer_is_ever_found_wrong(unit):
    torch.set_num_threads(1)
    is_known = found_before(COURSE, unit)  # that right answers lose nothing at fifty
    seeds = ANSWER_SEEDS or (1 if is_known else 4)
    assert not false_alarms(unit, range(1_000, 1_000 + seeds))
