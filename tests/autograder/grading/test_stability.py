"""The same submissions always get the same report, whoever grades them.

`COURSE_REGRADES=50` repeats grading as often as the project promises.
"""

import dataclasses
import os
import random

import pytest
from tiny_grading import EXPECTED, UNIT, scores, without_times

from autograder.class_report import ClassReport, gather
from autograder.classroom.folder import ClassFolder
from autograder.classroom.grading_run import Choice, run_through
from autograder.unit import graded_unit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
REGRADES = int(os.environ.get("COURSE_REGRADES", "3"))


def report_of(folder: ClassFolder) -> ClassReport:
    """Return the class's report without its times, which may differ."""
    report = gather(folder, UNIT)
    rows = [
        dataclasses.replace(row, seconds=None, checks=without_times(row.checks))
        for row in report.rows
    ]
    return dataclasses.replace(report, rows=tuple(rows))


@pytest.mark.slow
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
