"""Replies of a student's process cannot harm the grader or reveal hidden data."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch

from autograder.checking.expect import Callback
from autograder.checking.failures import StudentError, StudentGone
from autograder.sandbox import SubmissionProxy
from autograder.sandbox.parent_process import HOME, make_locked_temp_dir
from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder, Encoder, Reference
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.sandbox.transport import read_run

CELLS = ["\n\ndef double(x):\n    return x @ 0.25", "second = 2"]


class Forger:
    """Answer every request with the same forged message."""

    def __init__(self, **parts):
        self.reply = Encoder(lambda value: value).message(**parts)

    def ask(self, request, answer) -> Message:
        """Return the forged message."""
        return self.reply


def forged(**parts) -> SubmissionProxy:
    return SubmissionProxy(Forger(**parts), CELLS)


@pytest.mark.parametrize(
    "shapes",
    [
        {"weight": (1 << 20, 1 << 20)},
        {"weight": (-1,)},
        {"weight": [2, 3]},
        {"weight": (True,)},
        {"weight": 3},
        {3: (2,)},
        {f"w{n}": (1,) for n in range(20_000)},
        "weight",
        None,
    ],
    ids=lambda shapes: str(shapes)[:30],
)
def test_shapes_that_the_grader_should_draw_are_bounded(shapes):
    student = forged(ok=shapes)
    module = student._resolve(_reference("handle", 0, "Linear"))
    with pytest.raises(StudentGone, match="protocol"):
        module.parameters_by_name()


def test_shapes_that_are_some_are_taken():
    module = forged(ok={"weight": (2, 3), "none": ()})._resolve(_reference("handle", 0))
    assert module.parameters_by_name() == {"weight": (2, 3), "none": ()}


def test_a_process_that_refuses_to_begin_is_gone():
    student = forged(error={"kind": "raised", "type": "Error", "message": "no"})
    with pytest.raises(StudentGone, match="broke"):
        student.begin(0)


def test_a_question_that_is_too_large_is_no_question():
    student = forged(ok=None)
    with pytest.raises(ProtocolError, match="too many bytes"):
        student._answer(Message({}, bytearray(17 << 20)))
    with pytest.raises(ProtocolError, match="too many bytes"):
        student._answer(Message({}, size=17 << 20))  # in texts and lists


def asking(
    target, *arguments, methods=("__call__",)
) -> tuple[SubmissionProxy, Message]:
    """Return a student with `target` as an argument, and a question to this student."""
    student = forged(ok=None)
    student._refer(Callback(target, methods))
    question = {"key": 0, "method": "__call__", "args": arguments, "kwargs": {}}
    return student, Encoder(lambda value: value).message(callback=question)


def test_an_object_cannot_be_given_more_and_more_to_keep():
    kept: list[torch.Tensor] = []
    student, question = asking(kept.append, torch.zeros(1 << 17))
    with pytest.raises(ProtocolError, match="too many bytes"):
        for _ in range(90):
            student._answer(question)
    assert sum(len(one) for one in kept) * 4 <= 16 << 20


@pytest.mark.parametrize(
    ("shapes", "is_asked"),
    [
        ([(12, 20), (12, 12, 11), (12, 12)], True),
        ([(1, 8000), (8000, 1)], False),
        ([(4000, 1), (1, 4000, 1), ()], False),
        ([(0, 1 << 24)], False),
        ([(1 << 17,)], True),
    ],
    ids=str,
)
def test_shapes_of_a_question_cannot_multiply(shapes, is_asked):
    asked = []
    arguments = [torch.zeros(shape, dtype=torch.uint8) for shape in shapes]
    student, question = asking(lambda *given: asked.append(len(given)), *arguments)
    if is_asked:
        student._answer(question)
        assert asked == [len(shapes)]
        return
    with pytest.raises(ProtocolError, match="too many numbers"):
        student._answer(question)
    assert not asked


@pytest.mark.parametrize(
    "report",
    [
        {
            "message": "[0.1234567, -2.5e-07]",
            "type": "Inputs-0.25",
            "code": "0.1234567",
        },
        {"message": "x", "type": "T", "cell": 0, "line": 2, "code": "0.1234567"},
        {"message": "x", "type": "T", "cell": 99, "line": 2, "code": "0.1234567"},
        {"message": "x", "type": "T", "cell": -1, "line": 1, "code": "0.1234567"},
        {"message": "x", "type": "T", "cell": 0, "line": 10**9, "code": "0.1234567"},
        {"message": {"a": 0.1234567}, "type": 0.1234567, "line": "0.1234567"},
    ],
)
def test_numbers_of_a_check_do_not_come_back_in_errors(report):
    with pytest.raises(StudentError) as caught:
        forged(error={"kind": "raised", **report}).double(1)
    assert "1234567" not in str(caught.value)
    assert "2.5e-07" not in str(caught.value)


def test_the_line_of_an_error_is_the_notebooks_own():
    report = {"kind": "raised", "type": "E", "message": "shapes (2x3)", "cell": 0}
    with pytest.raises(StudentError) as caught:
        forged(error={**report, "line": 2, "code": "something else"}).double(1)
    assert str(caught.value).endswith(
        "shapes (2x3) (line 2 of its cell: return x @ 0.25)"
    )


def test_names_of_classes_are_cleaned():
    handle = forged(ok=None)._resolve(
        _reference("handle", 0, "\x1b[31m\u202eEvil\ud800")
    )
    assert handle.type_name == "[31m Evil"


def test_folders_of_killed_runs_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, sys, tempfile\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "from autograder.sandbox.parent_process import make_locked_temp_dir\n"
        "home, lock = make_locked_temp_dir()\nprint(home, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    killed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    left = Path(killed.stdout.strip())
    assert left.parent == tmp_path and left.is_dir(), killed.stderr
    first, lock = make_locked_temp_dir()
    second, other = make_locked_temp_dir()
    try:
        assert not left.exists()
        assert {path.name[: len(HOME)] for path in tmp_path.iterdir()} == {HOME}
        assert Path(first).is_dir() and Path(second).is_dir()
    finally:
        lock.release()
        other.release()


def _reference(kind: str, key: int, details: str = "Linear"):
    return Reference(kind, key, details)


@pytest.mark.parametrize("seconds", [10**400, float("inf"), -1, True, "1", None])
def test_a_forged_time_is_no_time(seconds):
    reply = Encoder(lambda value: value).message(ran={"seconds": seconds})
    found = read_run(reply).seconds
    assert isinstance(found, float) and (found == 0.0 or found == seconds)


def test_no_more_of_an_error_is_kept_than_is_shown():
    error = {"type": "x" * 10**6, "message": ["y"] * 10**5, "line": 3, "more": "z"}
    reply = Encoder(lambda value: value).message(ran={"error": error})
    kept = read_run(reply).error
    assert kept["line"] == 3 and set(kept) == {"type", "message", "line"}
    assert sum(len(str(value)) for value in kept.values()) < 10_000


def test_a_number_that_is_too_large_breaks_the_protocol():
    message = Message({"ok": {"complex": [10**400, 0]}}, bytearray())
    with pytest.raises(ProtocolError):
        Decoder(message, lambda reference: None).part("ok")


def test_whatever_goes_wrong_with_a_cell_its_process_is_ended(parents, monkeypatch):
    parent = parents("none")
    ended = []
    monkeypatch.setattr(
        "autograder.sandbox.submission_runner.read_run", lambda reply: 1 // 0
    )
    monkeypatch.setattr(
        parent, "end", lambda child, *rest: ended.append(child) or end(child, *rest)
    )
    end = type(parent).end.__get__(parent)
    with (
        pytest.raises(ZeroDivisionError),
        SubmissionRunner(parent, CELLS, {}).fresh("any"),
    ):
        pass
    assert len(ended) == 1
