"""A child costs one fork and the work of its code: no imports, no second fork."""

import subprocess
import sys

import pytest
import torch

from autograder.sandbox.bubblewrap import CHILD
from autograder.sandbox.student_side import namespaces

HALF = "def double(x):\n    return x / 2 + torch.softmax(x @ x, -1)\n"
IMPORTED = (
    "import sys\nimport torch\nbefore = set(sys.modules)\n"
    "def imported(x):\n    return sorted(set(sys.modules) - before)\n"
)
FORKS_APART = """
import contextlib, os, runpy, sys
fork_apart = runpy.run_path(sys.argv[1])["fork_apart"]
for apart in (fork_apart, contextlib.nullcontext) * 2:
    with apart():
        pid = os.fork()
        if pid == 0:
            print("first" if os.getpid() == 1 else "other", flush=True)
            os._exit(0)
    os.waitpid(pid, 0)
"""


def test_a_call_on_another_device_imports_no_compiler(remote):
    students = remote(IMPORTED, HALF)
    with students.fresh("any") as student:
        student.begin(0)
        assert student.devices(student["double"], torch.ones(2, 2)) == ["elsewhere"]
        imported = student["imported"](torch.ones(1))
    assert [name for name in imported if name.startswith("torch._dynamo")] == []
    assert [name for name in imported if name.startswith("sympy")] == []


def test_to_begin_a_check_imports_nothing(remote):
    with remote(IMPORTED).fresh("any") as student:
        student.begin(0)
        assert student["imported"](torch.ones(1)) == []


@pytest.mark.skipif(
    sys.platform != "linux" or not namespaces.can_fork_apart(),
    reason="only root may leave a process namespace and come back",
)
def test_a_fork_apart_is_the_first_of_its_processes_and_the_next_is_not():
    path = str(CHILD / "namespaces.py")
    command = [sys.executable, "-c", FORKS_APART, path]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["first", "other", "first", "other"]
