"""The cells run once, and each fork is independent of the other forks."""

import os
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from programs import require

from autograder.checking.failures import StudentGone
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import OurAnswer

RAN = """
import os
with open("ran.txt", "a") as file:
    file.write("x")
seen = []
def note(what):
    seen.append(what)
    return list(seen)
def times():
    return len(open("ran.txt").read())
def process():
    return os.getpid()
def write():
    open("left.txt", "w").write("something")
def files():
    return sorted(os.listdir("."))
def leave():
    os._exit(7)
def crash():
    os.kill(os.getpid(), 11)
def forever():
    while True:
        pass
"""


def asked(
    students: SubmissionRunner, exercise: str, name: str, *args: object
) -> object:
    with students.fresh(exercise) as student:
        return student[name](*args)


def test_exercises_do_not_see_each_other(
    remote: Callable[..., SubmissionRunner],
) -> None:
    with remote(RAN) as students:
        for exercise in ("a", "b", "c"):
            assert asked(students, exercise, "note", exercise) == [exercise]
            assert students._kept is not None
        processes = {asked(students, name, "process") for name in "de"}
    assert len(processes) == 2 and students._kept is None


def test_cells_run_once(
    remote: Callable[..., SubmissionRunner], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []
    run = SubmissionRunner._run_cell
    monkeypatch.setattr(
        SubmissionRunner, "_run_cell", lambda *a: (ran.append(a[3]), run(*a))[1]
    )
    cells = ["import time", "first = 1", "second = 2"]
    with remote(*cells) as students:
        for exercise in "abc":
            with students.fresh(exercise):
                pass
    assert ran == cells


def test_a_file_of_one_exercise_is_not_there_in_the_next(
    remote: Callable[..., SubmissionRunner],
) -> None:
    with remote(RAN) as students:
        asked(students, "a", "write")
        assert asked(students, "b", "files") == ["ran.txt"]
        assert asked(students, "c", "times") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [("leave", r"exit code 7"), ("crash", "signal 11"), ("forever", "did not end")],
)
def test_the_end_of_a_fork_is_told_and_the_next_exercise_goes_on(
    remote: Callable[..., SubmissionRunner], name: str, words: str
) -> None:
    with remote(RAN) as students:
        students.limits = replace(students.limits, exercise_seconds=3)
        asked(students, "a", "times")
        with pytest.raises(StudentGone, match=words):
            asked(students, "b", name)
        assert asked(students, "c", "note", 1) == [1]


@pytest.mark.parametrize(
    "cell",
    [
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "kept = open('ran.txt')",
        "import subprocess; kept = subprocess.Popen(['sleep', '60'])",
        "import mmap; file = open('shared', 'w+b'); file.write(bytes(4096))\n"
        "kept = mmap.mmap(file.fileno(), 4096); file.close()",
        "import signal; signal.alarm(600)",
    ],
    ids=["thread", "open file", "process", "shared memory", "alarm"],
)
def test_what_a_fork_would_lack_or_share_is_made_anew(
    remote: Callable[..., SubmissionRunner], cell: str
) -> None:
    with remote(RAN, cell) as students:
        for exercise in "ab":
            assert asked(students, exercise, "note", exercise) == [exercise]
            assert students._kept is None


def test_after_pytorch_has_computed_the_cells_still_run_once(
    remote: Callable[..., SubmissionRunner],
) -> None:
    cell = """
import torch
weight = torch.ones(64, 64, requires_grad=True)
(weight @ weight).sum().backward()
def gradient():
    return torch.autograd.grad((weight * weight).sum(), weight)[0].mean().item()
"""
    with remote(cell) as students:
        for exercise in "ab":
            assert asked(students, exercise, "gradient") == 2.0
            assert students._kept is not None


def test_no_place_of_a_sandbox_outlives_an_exercise(parents: Callable) -> None:
    """The files of one exercise are invisible to the others, wherever it may write."""
    require("bubblewrap")
    cell = """
import os
def write(place):
    try:
        open(place + "/left", "w").write("something")
        return True
    except OSError:
        return False
def is_there(place):
    return os.path.exists(place + "/left")
"""
    with SubmissionRunner(parents("sandbox"), [cell], {}) as students:
        for place in ("/tmp", "/dev/shm", "/scratch", "/student"):
            if asked(students, "a", "write", place):
                assert asked(students, "b", "is_there", place) is False


def test_where_no_process_more_is_allowed_none_is_forked(
    remote: Callable[..., SubmissionRunner],
) -> None:
    cell = """
import os
def refuse():
    raise BlockingIOError(11, "Resource temporarily unavailable")
os.fork = refuse
def one():
    return 1
"""
    with remote(cell) as students:
        assert [asked(students, name, "one") for name in "ab"] == [1, 1]
        assert students._kept is None


def test_memory_of_the_cells_is_counted_once(
    remote: Callable[..., SubmissionRunner],
) -> None:
    """The waiting process and its fork share the memory."""
    cell = """
import time, torch
held = torch.ones(90_000_000)  # 360 MB
def wait():
    time.sleep(0.5)
    return 1
"""
    with remote(cell) as students:
        students.limits = replace(students.limits, total_bytes=560 << 20)
        assert [asked(students, name, "wait") for name in "ab"] == [1, 1]
        assert students._kept is not None


def test_a_second_run_begins_when_the_first_has_ended(
    remote: Callable[..., SubmissionRunner],
) -> None:
    """The child with the course's earlier answers gets no second share of memory."""
    with remote("def first(): return 1", "def second(): return first()") as students:
        students.answers = {"a": OurAnswer(0, "pass", 1), "b": OurAnswer(1, "", 2)}
        assert asked(students, "b", "second") == 1
        assert students._kept is not None
        given = students.with_reference_answers("b")
        assert given is not None
        with given as student:
            assert students._kept is None and student.second() == 1


def test_a_fork_weighs_as_much_as_another_submission(
    remote: Callable[..., SubmissionRunner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has this weight from the start, even if the grader waits for a processor."""
    is_forked = SubmissionRunner._is_forked
    monkeypatch.setattr(
        SubmissionRunner, "_is_forked", lambda *a: (is_forked(*a), time.sleep(0.5))[0]
    )
    cell = """
import os, time
def weight():
    time.sleep(0.5)
    return os.nice(0)
"""
    with remote(cell) as students:
        assert [asked(students, name, "weight") for name in "ab"] == [os.nice(0)] * 2
        assert students._kept is not None
