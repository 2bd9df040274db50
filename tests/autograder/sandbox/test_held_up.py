"""The grader tells slow code from a busy machine, and counts hidden memory."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from programs import PROGRAMS
from students_in_children import DEFINES, printed, run

from autograder.checking.failures import StudentGone
from autograder.sandbox import limits as sandbox_limits
from autograder.sandbox.limits import Limits
from autograder.sandbox.student_side.memory import Child, family
from autograder.sandbox.student_side.processors import seconds_waited

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        seconds_waited("self") == 0.0 and not os.path.exists("/proc/self/schedstat"),
        reason="nobody counts here how long a process waits for a processor",
    ),
]
SHORT = Limits(cell_seconds=60, exercise_seconds=3, submission_seconds=300)
KIND = "sandbox" if PROGRAMS["bubblewrap"].is_there() else "none"  # crowds take minutes
SPINS, SLEEPS = "while True: pass", "import time\n    time.sleep(600)"


@contextlib.contextmanager
def crowd() -> Iterator[None]:
    """Run four processes for each processor that never rest.

    Each has its own session, because Linux may divide the processors by session.
    """
    command = [sys.executable, "-c", "while True: pass"]
    many = [
        subprocess.Popen(command, start_new_session=True)
        for _ in range(4 * (os.cpu_count() or 1))
    ]
    try:
        yield
    finally:
        for one in many:
            one.kill()
            one.wait()


@pytest.fixture
def impatient(monkeypatch) -> None:
    """Give no extra time on a crowded machine. Only sleeping students need it here."""
    monkeypatch.setattr(sandbox_limits, "crowding", lambda: 1.0)


@pytest.mark.parametrize("parent", [KIND], indirect=True)
def test_who_sleeps_in_a_crowd_was_not_held_up(remote):
    assert not was_held_up(remote, SLEEPS)


@pytest.mark.parametrize("parent", [KIND], indirect=True)
def test_a_fork_that_works_in_a_crowd_was_held_up(remote, impatient):
    """The fork does the work, and its parent process only waits for it."""
    assert was_held_up(remote, SPINS, forks=True)


def was_held_up(remote, body: str, forks: bool = False) -> bool:
    """Run a function on a crowded machine until its time is over.

    A sleeping function gets more time, so that its start is a small part of it.
    """
    limits = replace(SHORT, exercise_seconds=6) if body == SLEEPS else SHORT
    students = remote(f"def double(x):\n    {body}", limits=limits)
    keeping = students if forks else contextlib.nullcontext()
    with crowd(), keeping, pytest.raises(StudentGone):
        run(students)
    others = [one for one in students.limits_hit if "run once" not in one]
    assert others == ["any: time"]  # a crowd may make the first cell slow, too
    return students.was_held_up


def test_the_start_of_a_parent_is_not_the_students_time(remote, monkeypatch):
    students = remote(DEFINES, limits=replace(SHORT, submission_seconds=2))
    fork = students.parent.fork

    def fork_late(*args):
        time.sleep(2.5)
        return fork(*args)

    monkeypatch.setattr(students.parent, "fork", fork_late)
    assert run(students).tolist() == [2, 2]


@pytest.mark.parametrize("parent", [KIND], indirect=True)
def test_a_cell_that_ran_out_of_time_in_a_crowd_was_held_up(remote, impatient):
    limits = replace(SHORT, cell_seconds=3, exercise_seconds=60)
    students = remote("while True: pass", DEFINES, limits=limits)
    with crowd():
        run(students)
    assert students.limits_hit == ["cell 0: time"]
    assert students.was_held_up


@pytest.mark.parametrize("parent", [KIND], indirect=True)
def test_who_ends_in_time_was_not_held_up(remote):
    students = remote(DEFINES)
    with crowd():
        run(students)
    assert not students.was_held_up


def test_what_a_submission_starts_waits_for_others(remote):
    """Sixty processes that never rest would leave no time for the next student."""
    students = remote(
        """
import os, threading, time
here = []
def own(): time.sleep(3); here.append(os.nice(0))
read, write = os.pipe()
if os.fork() == 0:
    time.sleep(3)
    os.write(write, b"%d" % os.nice(0))
    os._exit(0)
beside = threading.Thread(target=own)
beside.start(); beside.join()
print(os.nice(0), int(os.read(read, 9)), here[0])
""",
        DEFINES,
    )
    run(students)
    assert printed(students) == f"{os.nice(0)} 19 19\n"


SOCKETS = """
import os, socket, time
for _ in range({processes}):
    if os.fork() == 0:
        held = []
        try:
            while len(held) < {sockets}:
                held += socket.socketpair()
                held[-1].setblocking(False)
                try:
                    while True: held[-1].send(b"x" * 4096)
                except BlockingIOError: pass
        except OSError: pass
        time.sleep(60)
        os._exit(0)
time.sleep({seconds})
print("got it")
"""
TABLES = """
import ctypes, mmap, time
size, pages = 1 << 21, {pages}
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 4
start = libc.mmap(None, size * pages, 1, 0x4022, -1, 0)  # to read, private, no reserve
for page in range(pages): ctypes.c_char.from_address(start + page * size).value
time.sleep({seconds})
print("got it")
"""


@pytest.mark.parametrize(
    ("much", "little"),
    [
        (
            SOCKETS.format(processes=12, sockets=100, seconds=40),
            SOCKETS.format(processes=1, sockets=2, seconds=1),
        ),
        (TABLES.format(pages=100_000, seconds=40), TABLES.format(pages=100, seconds=1)),
    ],
    ids=["sockets", "tables of pages"],
)
def test_memory_of_the_kernel_counts(remote, parent, much, little):
    if not parent.is_protected and "socket" in much:
        pytest.skip("without a sandbox there is no network of its own to be counted")
    limits = Limits(60, 60, 300, memory_bytes=1 << 30, total_bytes=256 << 20)
    students = remote(much, DEFINES, limits=limits)
    run(students)
    assert "together used too much memory" in students.runs[0].stopped
    students = remote(little, DEFINES, limits=limits)
    run(students)
    assert printed(students) == "got it\n"


OWN = {
    "a process": "import os\nos.fork()\nwhile True: pass",
    "a process of its own session": (
        "import os\nif os.fork() == 0: os.setsid()\nwhile True: pass"
    ),
    "a grandchild": "import os\nos.fork() or os.fork()\nwhile True: pass",
    "a thread": (
        "import threading\ndef spin():\n    while True: sum(range(1000))\n"
        "threading.Thread(target=spin).start()\nspin()"
    ),
}


@pytest.mark.parametrize("own", OWN)
def test_what_a_submission_starts_is_none_of_the_others(own):
    process = subprocess.Popen([sys.executable, "-c", OWN[own]], start_new_session=True)
    child = Child(process.pid, 1 << 40, has_own_network=False)
    family_of = []
    try:
        until = time.monotonic() + 60
        while sum(child.used.values()) < 0.2 and time.monotonic() < until:
            time.sleep(0.1)
            child.held(0)
            family_of = family(process.pid)
        assert sum(child.used.values()) >= 0.2
        assert process.pid not in child.used
        child.used[0] = 1e9
        assert child.seconds_waited() == 0
    finally:
        for pid in {process.pid, *family_of}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def test_queues_that_the_kernel_keeps_cannot_be_had(remote, parent):
    calls = "msgget(0, 0o1600)", "semget(0, 1, 0o1600)", "mq_open(b'/x', 66, 384, 0)"
    source = "import ctypes\nlibrary = ctypes.CDLL(None)\n"
    source += "".join(f"print(library.{call})\n" for call in calls)
    students = remote(source, DEFINES)
    run(students)
    if parent.is_protected:
        assert printed(students) == "-1\n-1\n-1\n"
