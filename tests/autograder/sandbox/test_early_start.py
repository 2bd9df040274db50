"""Slow imports start early and only once, and children share them by copying."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tiny_grading import UNIT, only

from autograder.classroom import workers
from autograder.classroom.folder import ClassFolder
from autograder.sandbox import prestart
from autograder.sandbox.control_channel import NoParent
from autograder.sandbox.fork_server_client import ForkServerClient, start_parent
from autograder.sandbox.kit import WarmKit, label_of
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import graded_unit

pytestmark = pytest.mark.integration
KIT = {"transformer/__init__.py": b"NUMBER = 7"}
USES_KIT = "import transformer\n\ndef times(x):\n    return transformer.NUMBER * x\n"
WAIT_SECONDS = 60


def times(parent: ForkServerClient, files: dict[str, bytes] = KIT) -> torch.Tensor:
    """Call the student's function in a child of `parent`."""
    students = SubmissionRunner(parent, [USES_KIT], files)
    with students.fresh("any") as student:
        student.begin(0)
        return student.times(torch.ones(2))


def below(pid: int) -> set[int]:
    """Return the ids of a process's descendants."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return set()
    own = set(map(int, text.split()))
    return own.union(*map(below, own))


def alive(pids: set[int]) -> set[int]:
    """Return the processes that have not ended."""
    found = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        found |= {pid} - ({pid} if state == "Z" else set())
    return found


@pytest.fixture
def fresh_parent(parent: ForkServerClient) -> ForkServerClient:
    """Return a parent without a kit, of each kind of sandbox in turn."""
    if parent.kit:
        parent.restart()
    return parent


@pytest.fixture
def pool(classroom):
    """Return two workers for a class of two, and end them afterwards."""
    only(classroom, "perfect-one", "mistake-1")
    folder = ClassFolder(classroom)
    made = workers.Processes(graded_unit(UNIT, classroom), folder.limits, 2)
    yield made
    made.close()


def graded(pool: workers.Processes, root: Path) -> dict[str, tuple[str, float]]:
    """Grade the submissions under `root`."""
    for submission in ClassFolder(root).submissions(UNIT):
        pool.give(submission)
    ended = []
    while pool.is_busy():
        ended += pool.outcomes()
    return {o.submission.student: (o.status, o.score) for o in ended}


RIGHT = {"perfect-one": ("graded", 70.0), "mistake-1": ("graded", 56.67)}


def test_it_starts_before_anything_heavy_is_imported():
    asks = (
        "import sys, autograder.sandbox.prestart, autograder.commands.grading\n"
        "print({'torch', 'nbgrader', 'IPython', 'nbformat'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asks], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("students", "expected"), [(0, []), (1, ["begun"]), (3, ["begun"])]
)
def test_only_what_the_class_needs_is_begun(students, expected, tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(prestart, "prepare", lambda: begun.append("begun"))
    for number in range(students):
        (tmp_path / "submitted" / f"student-{number}" / UNIT).mkdir(parents=True)
    prestart.prepare_for(tmp_path)
    assert begun == expected


def test_a_copy_holds_the_kit_and_outlives_no_line(fresh_parent):
    kit = WarmKit(label_of(KIT), KIT, [], ["transformer"])
    fresh_parent.warm(kit)
    before = below(fresh_parent._process.popen.pid)
    copy = ForkServerClient(fresh_parent.copy())
    assert copy.kit == kit.label
    added = below(fresh_parent._process.popen.pid) - before
    if sys.platform == "linux":
        assert len(added) == 1
    assert torch.equal(times(copy), torch.full((2,), 7.0))
    assert torch.equal(times(fresh_parent), torch.full((2,), 7.0))
    copy.close()
    until = time.monotonic() + WAIT_SECONDS
    while alive(added) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(added)
    with pytest.raises(NoParent):
        copy.copy()
    assert torch.equal(times(fresh_parent), torch.full((2,), 7.0))


@pytest.mark.slow
def test_a_copy_that_gets_another_kit_starts_anew(fresh_parent):
    fresh_parent.warm(WarmKit(label_of(KIT), KIT, [], ["transformer"]))
    copy = ForkServerClient(fresh_parent.copy())
    other = {"transformer/__init__.py": b"NUMBER = 9"}
    try:
        copy.warm(WarmKit(label_of(other), other, [], ["transformer"]))
        assert torch.equal(times(copy, other), torch.full((2,), 9.0))
        assert torch.equal(times(fresh_parent), torch.full((2,), 7.0))
    finally:
        copy.close()


def test_a_parent_that_is_not_waited_for_is_there_when_it_is_needed(parent):
    early = start_parent(parent.sandbox, wait=False)
    try:
        assert torch.equal(times(early), torch.full((2,), 7.0))
    finally:
        early.close()


@pytest.mark.parametrize("seconds", [0, 0.1])
def test_a_parent_that_is_not_needed_ends_by_itself(parent, seconds):
    early = start_parent(parent.sandbox, wait=False)
    time.sleep(seconds)
    started = {early._process.popen.pid} | below(early._process.popen.pid)
    early.close()
    until = time.monotonic() + WAIT_SECONDS
    while alive(started) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(started)


def test_workers_start_no_parent_of_their_own(pool, classroom):
    assert graded(pool, classroom) == RIGHT
    if sys.platform == "linux":
        for worker in pool._workers:
            assert not below(worker.process.pid)


def test_workers_whose_parents_are_lost_start_their_own(pool, classroom):
    assert graded(pool, classroom) == RIGHT
    prestart.own_parent()._process.popen.kill()
    assert graded(pool, classroom) == RIGHT


def test_a_parent_that_cannot_be_copied_is_given_up(pool, classroom, monkeypatch):
    def broken(self):
        raise NoParent("it cannot be copied")

    monkeypatch.setattr(ForkServerClient, "copy", broken)
    assert graded(pool, classroom) == RIGHT
    assert not prestart._held
