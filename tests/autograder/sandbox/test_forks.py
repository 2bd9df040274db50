"""The cells run once; each exercise has a fork that knows nothing of the others."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from autograder.checking.failures import StudentGone
from autograder.sandbox.isolated import RemoteStudents

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


def asked(students: RemoteStudents, exercise: str, name: str, *args: object) -> object:
    with students.fresh(exercise) as student:
        return student[name](*args)


def test_exercises_do_not_see_each_other(remote: Callable[..., RemoteStudents]) -> None:
    with remote(RAN) as students:
        for exercise in ("a", "b", "c"):
            assert asked(students, exercise, "note", exercise) == [exercise]
            assert students._kept is not None
        processes = {asked(students, name, "process") for name in "de"}
    assert len(processes) == 2 and students._kept is None


def test_cells_run_once(
    remote: Callable[..., RemoteStudents], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []
    run = RemoteStudents._run_cell
    monkeypatch.setattr(
        RemoteStudents, "_run_cell", lambda *a: (ran.append(a[3]), run(*a))[1]
    )
    cells = ["import time", "first = 1", "second = 2"]
    with remote(*cells) as students:
        for exercise in "abc":
            with students.fresh(exercise):
                pass
    assert ran == cells


def test_a_file_of_one_exercise_is_not_there_in_the_next(
    remote: Callable[..., RemoteStudents],
) -> None:
    with remote(RAN) as students:
        asked(students, "a", "write")
        assert asked(students, "b", "files") == ["ran.txt"]
        assert asked(students, "c", "times") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [("leave", r"exit code 7"), ("crash", "signal 11"), ("forever", "without an end")],
)
def test_the_end_of_a_fork_is_told_and_the_next_exercise_goes_on(
    remote: Callable[..., RemoteStudents], name: str, words: str
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
    ],
    ids=["thread", "open file", "process"],
)
def test_what_a_fork_would_lack_or_share_is_made_anew(
    remote: Callable[..., RemoteStudents], cell: str
) -> None:
    with remote(RAN, cell) as students:
        for exercise in "ab":
            assert asked(students, exercise, "note", exercise) == [exercise]
            assert students._kept is None


def test_after_pytorch_has_computed_the_cells_still_run_once(
    remote: Callable[..., RemoteStudents],
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
