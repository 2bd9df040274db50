"""Grading gives the same results with any number of workers, in any order."""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_grading import (
    EXPECTED,
    UNIT,
    cells,
    checks,
    grade,
    only,
    scores,
    submission,
)

from autograder.classroom import workers
from autograder.classroom.folder import ClassFolder
from autograder.classroom.grading_run import Choice, run_through
from autograder.unit import graded_unit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
FEW = ("perfect-one", "mistake-1", "looping", "half-done")


def run(root: Path, reverse: bool = False, number: int = 2) -> list:
    """Grade without feedback, and return the outcomes in the order of their ends."""
    folder = ClassFolder(root)
    folder.register(UNIT)
    ended = []
    chosen = sorted(folder.submissions(UNIT), key=lambda s: s.student, reverse=reverse)
    choice = Choice(with_feedback=False, workers=number)
    outcomes = run_through(
        folder, graded_unit(UNIT, root), chosen, ended.append, choice
    )
    assert [outcome.submission for outcome in outcomes] == chosen
    return ended


@pytest.mark.integration
def test_any_number_and_order_give_the_same(classroom, tmp_path):
    only(classroom, *FEW)
    other = shutil.copytree(classroom, tmp_path / "other")
    settings = other / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace(str(classroom), str(other)))
    run(classroom, number=1)
    run(other, reverse=True, number=3)
    assert scores(other) == {name: EXPECTED[name] for name in FEW}
    assert cells(other) == cells(classroom)
    for student in FEW:
        assert checks(other, student) == checks(classroom, student)


@pytest.mark.integration
def test_a_looping_student_holds_nobody_up(classroom):
    """The test needs no clock: the others end while the looping one still runs."""
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    by_name = {each.student: each for each in folder.submissions(UNIT)}
    limits = replace(folder.limits, exercise_seconds=900, submission_seconds=900)
    pool = workers.Processes(graded_unit(UNIT, classroom), limits, 2)
    waiting, done = ["mistake-1", "mistake-2", "half-done"], []
    try:
        pool.give(by_name["looping"])
        while len(done) < 3:
            while waiting and pool.has_room():
                pool.give(by_name[waiting.pop(0)])
            done += [outcome.submission.student for outcome in pool.outcomes()]
        assert done == ["mistake-1", "mistake-2", "half-done"]
        assert pool.is_busy()
    finally:
        pool.close()


@pytest.mark.integration
def test_a_lost_worker_costs_only_what_it_had_in_hand(classroom):
    only(classroom, "perfect-one", "mistake-1")
    folder = ClassFolder(classroom)
    first, second = folder.submissions(UNIT)
    pool = workers.Processes(graded_unit(UNIT, classroom), folder.limits, 2)
    try:
        pool.give(first)
        pool.give(second)
        assert not pool.has_room()
        pool._workers[0].process.kill()
        ended = []
        while pool.is_busy():
            ended += pool.outcomes()
        assert {o.submission: o.status for o in ended} == {
            first: "graded",
            second: "graded",
        }
    finally:
        pool.close()


def test_a_submission_that_costs_two_workers_is_given_up(classroom):
    """The submission would loop for long, so it is killed before a worker ends it."""
    only(classroom, "looping")
    folder = ClassFolder(classroom)
    (chosen,) = folder.submissions(UNIT)
    limits = replace(folder.limits, exercise_seconds=900, submission_seconds=900)
    pool = workers.Processes(graded_unit(UNIT, classroom), limits, 2)
    try:
        pool.give(chosen)
        ended = []
        while pool.is_busy():
            for worker in pool._busy():
                worker.process.kill()
            ended += pool.outcomes()
        assert [o.status for o in ended] == ["failed"]
        assert "ended without an answer, twice" in ended[0].reason
    finally:
        pool.close()


def test_workers_end_with_the_pool(classroom):
    pool = workers.Processes(
        graded_unit(UNIT, classroom), ClassFolder(classroom).limits, 2
    )
    pool.give(next(iter(ClassFolder(classroom).submissions(UNIT))))
    process = pool._workers[0].process.pid
    pool.close()
    time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_bad_numbers_of_workers_are_refused(classroom):
    assert grade(classroom, "--workers", "0").exit_code == 2
    assert not submission(classroom, "nobody").exists()


@pytest.mark.integration
def test_what_is_written_is_not_held_in_memory(classroom):
    """Thousands of students make the same few mistakes. Each is stored only once."""
    only(classroom, "mistake-1")
    shutil.copytree(
        classroom / "submitted" / "mistake-1", classroom / "submitted" / "mistake-9"
    )
    first, second = run(classroom)
    assert first.score == second.score == EXPECTED["mistake-1"]
    for one, other in zip(first.results, second.results, strict=True):
        assert one is other
    for outcome in (first, second):
        assert outcome.notebook is None
        assert not outcome.runs
