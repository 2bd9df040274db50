"""A child costs a fork and what its code asks for: no imports, no second fork."""

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
JUMP = """
import resource
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def largest_jump(names):
    most = 0
    for number in range(names):
        before = faults()
        sys.intern(f"a name that was not there: {number}")
        most = max(most, faults() - before)
    return most
"""
COLLAPSES = """
import mmap, runpy, sys
size = 16 << 20
held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.write(b"x" * size)
large = runpy.run_path(sys.argv[1])
libc = large["ctypes"].CDLL(None)
def kilobytes():
    with open("/proc/self/smaps_rollup") as file:
        return int(file.read().partition("AnonHugePages:")[2].split()[0])
before = kilobytes()
large["use_large_pages"]()
grown = kilobytes() - before
ctypes = large["ctypes"]
view = ctypes.c_char.from_buffer(held)
start = -(-ctypes.addressof(view) // large["LARGE"]) * large["LARGE"]
where = ctypes.c_void_p(start), ctypes.c_size_t(large["LARGE"])
refused = libc.madvise(*where, large["MADV_COLLAPSE"])
del view
held.seek(0)
print(grown, held.read() == b"x" * size, refused)
"""

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


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts faults of pages")
def test_a_child_has_room_for_names_of_its_own(remote):
    """A table of names that is full is built anew, which touches a thousand pages."""
    with remote(IMPORTED, JUMP).fresh("any") as student:
        student.begin(0)
        assert student["largest_jump"](40_000) < 200


@pytest.mark.skipif(sys.platform != "linux", reason="large pages are Linux's")
def test_memory_is_put_into_large_pages_and_stays_what_it_was():
    command = [sys.executable, "-c", COLLAPSES, str(CHILD / "large_pages.py")]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    kilobytes, is_same, refused = said.stdout.split()
    assert is_same == "True"
    if refused != "0":
        pytest.skip("the kernel makes no large pages here (Linux 6.1 can)")
    assert int(kilobytes) >= 12 << 10


@pytest.mark.skipif(
    sys.platform != "linux" or not namespaces.can_fork_apart(),
    reason="only root may leave a process namespace and come back",
)
def test_a_fork_apart_is_the_first_of_its_processes_and_the_next_is_not():
    path = str(CHILD / "namespaces.py")
    command = [sys.executable, "-c", FORKS_APART, path]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["first", "other", "first", "other"]
