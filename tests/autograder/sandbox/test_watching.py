"""What a call runs is seen while it is watched, in this process and in a child."""

import sys
import threading

import pytest
import torch

from autograder.checking.failures import StudentError, StudentGone
from autograder.sandbox.student_side.messages import Message
from autograder.sandbox.submission_proxy import SubmissionProxy

CELLS = """
import sys
import threading
import torch
import torch.nn.functional as F
from torch import nn

def norm(x):
    return F.layer_norm(x, x.shape[-1:])

def heads(x):
    return nn.MultiheadAttention(4, 2)(x, x, x)[0]

def mathematically(x):
    with torch._C.DisableTorchFunctionSubclass():
        return torch._scaled_dot_product_attention_math(x, x, x)[0]

def elsewhere(x):
    thread = threading.Thread(target=norm, args=(x,))
    thread.start()
    thread.join()
    return x

def backward(x):
    x = x.clone().requires_grad_()
    norm(x).sum().backward()
    return x.grad

def breaks(x):
    norm(x)
    raise ValueError("no")

def unwatched(x):
    sys.setprofile(None)
    return norm(x)

def asks(x):
    return sys.getprofile() is None

def starts(x):
    import subprocess
    subprocess.run(["true"])
    return x

def own_thread(x):
    import _thread
    _thread.start_new_thread(norm, (x,))
    return x

def unnoted(x):
    torch._C._autograd._disable_profiler()
    return norm(x)
"""


@pytest.fixture
def student(students):
    made = students(CELLS)
    with made.fresh("any") as student:
        student.begin(3)
        yield student


def ran(student, name):
    with student.watched() as names:
        student[name](torch.ones(2, 3, 4))
    return names


def test_operators_and_functions_are_named(student):
    names = ran(student, "norm")
    assert {"aten::native_layer_norm", "torch.nn.functional:layer_norm"} <= names
    assert "torch.nn.functional:multi_head_attention_forward" in ran(student, "heads")
    assert "aten::_scaled_dot_product_attention_math" in ran(student, "mathematically")
    assert "aten::native_layer_norm_backward" in ran(student, "backward")
    assert "aten::native_layer_norm" in ran(student, "elsewhere")
    assert "aten::native_layer_norm" not in ran(student, "mathematically")


def test_what_ran_before_an_error_is_named_too(student):
    with student.watched() as names, pytest.raises(StudentError, match="ValueError"):
        student.breaks(torch.ones(2))
    assert "aten::layer_norm" in names


@pytest.mark.parametrize("name", ["unwatched", "asks", "unnoted"])
def test_who_looks_at_the_watch_is_noticed(student, name):
    assert "watch:ended" in ran(student, name)
    assert "watch:ended" not in ran(student, "norm")


def test_what_runs_where_nothing_is_seen_is_noticed(student):
    assert "watch:left" in ran(student, "starts")
    assert "watch:left" in ran(student, "own_thread")
    for name in ("norm", "heads", "elsewhere", "backward"):
        assert "watch:left" not in ran(student, name)


def test_a_watch_within_a_watch_leaves_the_outer_one_on(student):
    with student.watched() as outer:
        inner = ran(student, "norm")
        student.heads(torch.ones(2, 3, 4))
    assert "aten::native_layer_norm" in inner
    assert "torch.nn.functional:multi_head_attention_forward" in outer


def test_a_call_is_watched_inside_alone(student):
    with student.watched() as names:
        pass
    assert student.asks(1) is True
    assert not names
    assert sys.getprofile() is None and threading.getprofile() is None


@pytest.mark.parametrize("told", [None, {"list": [1]}, "aten::bmm"])
def test_a_process_that_does_not_say_what_ran_is_gone(told):
    class Silent:
        def ask(self, request, answer):
            return Message({"ok": None} if told is None else {"ok": None, "ran": told})

    student = SubmissionProxy(Silent(), [])
    with student.watched(), pytest.raises(StudentGone, match="what has run"):
        student.value("x")
