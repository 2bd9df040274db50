"""A hanging or bloated grader costs only one submission, and Ctrl-C ends the run."""

import os
import re
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from test_resume import PATIENCE, log, started, wait_for
from tiny_grading import EXPECTED, UNIT, grade, only, scores, submission

from autograder.classroom import grading_run, worker_process, writer
from autograder.classroom.folder import ClassFolder
from autograder.classroom.worker_process import WorkerProcess, limited, was_too_slow
from autograder.grading.outcome import Outcome
from autograder.sandbox.limits import MIB, Limits
from autograder.unit import Submission, graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
TIGHT = Limits(grader_seconds=2, grader_bytes=256 * MIB)
# Code of a hidden check: anything that can make the grader run for ever.
HANGS = """
import re
from autograder.checking.expect import check

@check("double", share=1, title="Reads the source")
def test_reads(student, draw):
    if "SPIN" in student.source("double"):
        re.match("(a+)+$", "a" * 60 + "b")
"""


def hang(connection, kind: str) -> None:
    """Accept an order, and never finish it."""
    worker_process.begin_working()
    connection.recv()
    with limited(TIGHT):
        if kind == "python":
            while True:
                pass
        if kind == "regular expression":
            re.match("(a+)+$", "a" * 60 + "b")
        10**10**9


def work(connection, seconds: float) -> None:
    """Accept many short orders, each immediately after a tick of the kernel."""
    worker_process.begin_working()
    connection.recv()
    started = time.process_time()
    while time.process_time() < started + seconds:
        with limited(replace(TIGHT, grader_seconds=1)):
            begun = time.process_time()
            while time.process_time() < begun + 0.001:
                pass
        time.sleep(0.003)
    connection.send("done")


def hoard(connection, kind: str) -> None:
    """Try to use more memory than the limit of an order."""
    worker_process.begin_working()
    size = connection.recv()
    try:
        with limited(TIGHT):
            torch.ones(size, dtype=torch.uint8) if kind == "torch" else bytes(size)
        held = True
    except (MemoryError, RuntimeError):
        held = False
    connection.send(held)


@pytest.mark.parametrize("kind", ["python", "regular expression", "number"])
def test_a_worker_process_that_hangs_is_ended_wherever_it_is(kind):
    process = WorkerProcess(hang, kind)
    process.connection.send("begin")
    assert process.connection.poll(PATIENCE)
    with pytest.raises(EOFError):
        process.connection.recv()
    assert was_too_slow(process.end(PATIENCE))


@pytest.mark.slow
def test_what_many_submissions_took_is_not_laid_to_the_next_one():
    """The kernel ends a process by its ticks, which exceed the times of `getrusage`."""
    process = WorkerProcess(work, 4.0)
    process.connection.send("begin")
    assert process.connection.recv() == "done"
    assert not was_too_slow(process.end(PATIENCE))


@pytest.mark.parametrize("kind", ["torch", "python"])
@pytest.mark.parametrize(("size", "is_had"), [(64 * MIB, True), (512 * MIB, False)])
def test_a_worker_process_cannot_hold_more_than_it_may(kind, size, is_had):
    process = WorkerProcess(hoard, kind)
    process.connection.send(size)
    assert process.connection.recv() is is_had
    process.end(PATIENCE)


def test_a_submission_that_hangs_the_grader_is_refused_and_the_class_goes_on(classroom):
    only(classroom, "mistake-1", "perfect-one", "perfect-two")
    with (classroom / "autograder/checks/test_01_tiny.py").open("a") as file:
        file.write(HANGS)
    with (classroom / "nbgrader_config.py").open("a") as file:
        file.write('c.RunHiddenChecks.limits = {"grader_seconds": 5}\n')
    path = submission(classroom, "mistake-1")
    path.write_text(path.read_text().replace("def double(", "def double(SPIN, "))
    done = grade(classroom, "--workers", "1")
    assert "mistake-1: refused: reading, checking or showing it" in done.output
    assert done.exit_code == 1, done.output
    assert scores(classroom)["perfect-one"] == scores(classroom)["perfect-two"] == 70.0
    assert scores(classroom)["mistake-1"] == 0.0
    assert [line["status"] for line in log(classroom)].count("graded") == 2


def hanging_writer(connection, root: Path, device) -> None:
    """Accept an order, and never finish it."""
    hang(connection, "python")


def test_what_hangs_where_pages_are_written_fails_and_no_score_stays(
    classroom, monkeypatch
):
    only(classroom, "perfect-one", "mistake-1")
    assert grade(classroom, "--no-feedback").exit_code == 0
    folder = ClassFolder(classroom)
    chosen = Submission("perfect-one", UNIT, submission(classroom, "perfect-one"))
    with monkeypatch.context() as patch:
        patch.setattr(writer, "serve", hanging_writer)
        made = writer.Writer(folder)
    outcome = Outcome(chosen, notebook=graded_unit(UNIT, classroom).released)
    made.write(outcome, with_feedback=False)
    assert (outcome.status, outcome.reason) == ("failed", worker_process.TOO_SLOW)
    kept = scores(classroom)
    assert kept == {"perfect-one": 0.0, "mistake-1": EXPECTED["mistake-1"]}
    outcome.status, outcome.reason = "graded", ""
    made.write(outcome, with_feedback=False)  # in a new process
    made.close()
    assert outcome.reason != worker_process.TOO_SLOW


def test_ctrl_c_ends_the_run_and_blames_nobody(classroom):
    with started(classroom) as process:
        wait_for(classroom / "grading" / "audit.jsonl", process)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, output
    assert "Stopped. What is graded stays" in output.decode()
    assert "Traceback" not in output.decode()
    assert {line["status"] for line in log(classroom)} == {"graded"}
    assert len(log(classroom)) < len(EXPECTED)


class OneAtATime:
    """Workers that report one student's submission as held up by other processes."""

    def __init__(self):
        self.given, self.most = [], 0
        self.pending: list[Submission] = []

    def has_room(self) -> bool:
        return len(self.pending) < 2

    def is_busy(self) -> bool:
        return bool(self.pending)

    def give(self, submission: Submission) -> None:
        self.pending.append(submission)
        self.given.append((submission.student, len(self.pending)))

    def outcomes(self) -> list[Outcome]:
        chosen = self.pending.pop(0)
        held_up = chosen.student == "perfect-one"
        return [Outcome(chosen, "refused", "so it goes", was_held_up=held_up)]

    def close(self) -> None:
        pass


def test_who_was_held_up_is_graded_once_more_alone(classroom, monkeypatch):
    only(classroom, "perfect-one", "perfect-two", "mistake-1")
    workers, ended = OneAtATime(), []
    monkeypatch.setattr("autograder.classroom.workers.Processes", lambda *_: workers)
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    grading_run.run_through(
        folder,
        graded_unit(UNIT, classroom),
        list(folder.submissions(UNIT)),
        lambda outcome: ended.append(outcome.submission.student),
    )
    assert workers.given[-1] == ("perfect-one", 1)
    assert [name for name, _ in workers.given].count("perfect-one") == 2
    assert sorted(ended) == ["mistake-1", "perfect-one", "perfect-two"]
    assert ended[-1] == "perfect-one"


def test_limits_of_the_grader_change_with_the_settings(classroom):
    with (classroom / "nbgrader_config.py").open("a") as file:
        file.write('c.RunHiddenChecks.limits = {"grader_seconds": 5}\n')
    assert ClassFolder(classroom).limits == replace(Limits(), grader_seconds=5)
