"""Children: their limits, crashes, rights and traces."""

import os
import re
import secrets
import time
from collections.abc import Callable

import pytest
import torch
from students_in_children import DEFINES, printed, run

from autograder.checking.failures import StudentGone
from autograder.sandbox import submission_runner
from autograder.sandbox.limits import Limits

PATIENCE = 30  # seconds of delay on a crowded machine
QUICK = Limits(cell_seconds=3, exercise_seconds=3, submission_seconds=60)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait longer for the end of a child, because these tests check how it ends."""
    monkeypatch.setattr(submission_runner, "PATIENCE", PATIENCE / 3)


def test_outputs_of_cells_are_kept_and_errors_stop_no_other_cell(remote):
    students = remote("print('hello')\n3", "1 / 0", "%time x = 1", DEFINES)
    assert torch.equal(run(students), torch.full((2,), 2.0))
    first, second, _, _ = students.runs
    assert first.outputs[0]["text"] == "hello\n"
    assert first.outputs[1]["data"]["text/plain"] == "3"
    assert second.error["type"] == "ZeroDivisionError"


@pytest.mark.parametrize("cell", ["3;", "x = 4\n3;  # quiet", "%time 3;"])
def test_a_value_before_a_semicolon_is_not_shown(remote, cell):
    students = remote(cell, "3", DEFINES)
    run(students)
    quiet, loud, _ = students.runs
    assert not [one for one in quiet.outputs if "data" in one]
    assert loud.outputs[0]["data"]["text/plain"] == "3"


def test_output_is_bounded(remote):
    students = remote("print('x' * 10_000_000)", DEFINES)
    run(students)
    assert len(printed(students)) < 100_000
    assert "output truncated" in printed(students)


def test_a_cell_that_never_ends_is_stopped_and_left_out(remote):
    students = remote("while True:\n    pass", DEFINES, limits=QUICK)
    seconds = students.limits.cell_seconds  # 3, or more on a crowded machine
    started = time.monotonic()
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert time.monotonic() - started < seconds / 3 * (3 + 2)
    assert f"stopped after {round(seconds, 1):g} s" in students.runs[0].stopped
    run(students)
    assert students.limits_hit == ["cell 0: time"]  # it did not run again


def test_a_cell_that_ends_its_process_is_left_out(remote):
    students = remote("import os\nos._exit(3)", DEFINES)
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert "exit code 3" in students.runs[0].stopped


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: pass", "stopped after {seconds:g} s"),
        ("import os; os._exit(0)", "ended by itself"),
        ("import ctypes; ctypes.string_at(0)", "ended by signal 11"),
        (
            "import signal; signal.signal(15, signal.SIG_IGN); __import__('time')"
            ".sleep(99)",
            "stopped after {seconds:g} s",
        ),
    ],
)
def test_a_call_that_never_returns_ends_the_exercise_only(remote, body, words):
    students = remote(DEFINES, f"def bad(x):\n    {body}\n", limits=QUICK)
    seconds = students.limits.exercise_seconds
    started = time.monotonic()
    with pytest.raises(
        StudentGone, match=re.escape(words.format(seconds=round(seconds, 1)))
    ):
        run(students, "bad")
    assert time.monotonic() - started < seconds / 3 * (3 + 2)
    assert torch.equal(run(students), torch.full((2,), 2.0))


def test_a_limit_is_told_to_a_tenth_of_a_second(remote):
    limits = Limits(cell_seconds=20, exercise_seconds=1.23456, submission_seconds=60)
    students = remote("def bad(x):\n    while True: pass", limits=limits)
    with pytest.raises(StudentGone, match=r"stopped after \d+(\.\d)? s"):
        run(students, "bad")


def test_each_exercise_has_a_fresh_process(remote):
    students = remote(
        "count = []", "def double(x):\n    count.append(1)\n    return x * len(count)"
    )
    for _ in range(2):
        assert torch.equal(run(students), torch.ones(2))


def test_the_submission_as_a_whole_has_a_limit(remote):
    limits = Limits(cell_seconds=1, exercise_seconds=1, submission_seconds=2)
    students = remote(*["while True: pass"] * 20, DEFINES, limits=limits)
    seconds = students.limits.submission_seconds
    words = re.escape(f"more than {round(seconds, 1):g} s")
    with pytest.raises(StudentGone, match=words):
        run(students)
    assert len(students.runs) <= 3  # two whole ones, and an incomplete one


def test_time_that_ends_before_the_first_cell_is_the_submissions(remote, monkeypatch):
    students = remote(DEFINES)

    def too_late(_: object) -> None:
        students._deadline = time.monotonic()
        raise TimeoutError

    monkeypatch.setattr(students, "_send_files", too_late)
    with pytest.raises(StudentGone, match="the notebook took more than"):
        run(students)


def test_only_the_kit_can_be_imported(remote):
    students = remote(
        "try:\n    import transformer\n    print(transformer.__file__)\n"
        "except ModuleNotFoundError as error:\n    print('no', error.name)",
        "try:\n    import autograder\nexcept ModuleNotFoundError as error:\n"
        "    print('no', error.name)",
        DEFINES,
    )
    run(students)
    assert printed(students) == "no transformer\nno autograder\n"
    kit = {"transformer/__init__.py": b"KIT = True"}
    students = remote("import transformer\nprint(transformer.KIT)", DEFINES, **kit)
    run(students)
    assert printed(students) == "True\n"


@pytest.mark.parametrize("parent", ["sandbox"], indirect=True)
def test_the_sandbox_hides_the_machine(remote, tmp_path):
    secret = tmp_path / "gradebook.db"
    secret.write_text("CANARY")
    here = os.path.dirname(os.path.abspath(__file__))
    students = remote(
        f"import os\nprint(os.path.exists({str(secret)!r}), os.path.exists({here!r}))",
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 22), 1)\n"
        "except OSError as error:\n    print(type(error).__name__)",
        "print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))",
        "for place in ('/', '/usr', '/grader', '/dev', '/etc'):\n"
        "    try:\n        open(place + '/x', 'w')\n        print('wrote', place)\n"
        "    except OSError:\n        pass",
        "print(os.getuid() != 0 or 'root')",
        DEFINES,
    )
    run(students)
    lines = printed(students).splitlines()
    assert lines == ["False False", "PermissionError", "[1]", "True"]


@pytest.mark.parametrize("parent", ["sandbox"], indirect=True)
def test_nothing_is_left_behind(remote):
    marker = f"8{secrets.randbelow(10**6):06}.25"  # from no other run
    students = remote(
        "import subprocess\nsubprocess.Popen(['/bin/sh', '-c', 'setsid sleep "
        f"{marker} &'])\nopen('/tmp/left', 'w').write('x')",
        "import os\nprint(os.path.exists('/tmp/left'))",
        DEFINES,
    )
    run(students)
    assert _comes_true(lambda: marker not in _command_lines())
    students = remote("import os\nprint(os.path.exists('/tmp/left'))", DEFINES)
    run(students)
    assert printed(students) == "False\n"


def _comes_true(holds: Callable[[], bool]) -> bool:
    """Tell whether a condition is or soon becomes true: killed processes end slowly."""
    until = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < until:
        time.sleep(0.1)
    return holds()


def _command_lines():
    lines = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline") as file:
                lines.append(file.read())
        except OSError:
            continue
    return "\n".join(lines)


def test_memory_and_processes_are_limited(remote, parent):
    limits = Limits(60, 60, 300, memory_bytes=1 << 30, processes=40)
    students = remote(
        "import torch\ntry:\n    torch.ones(1 << 29)\n    print('got it')\n"
        "except (RuntimeError, MemoryError):\n    print('no memory')",
        "import os, time\nn = 0\ntry:\n    while n < 500:\n        if os.fork() == 0:\n"
        "            time.sleep(60)\n            os._exit(0)\n        n += 1\n"
        "except OSError:\n    pass\nprint(n < 100)",
        DEFINES,
        limits=limits,
    )
    run(students)
    expected = "no memory\nTrue\n"
    if not parent.is_protected:
        expected = expected[: len("no memory\n")]
    assert printed(students).startswith(expected)


def test_memory_of_all_processes_together_is_limited(remote):
    """Each of the eight uses less than one may use."""
    hoards = (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n"
        "        hoard = b'x' * (48 << 20)\n        time.sleep(60)\n"
        "        os._exit(0)\ntime.sleep(40)\nprint('got it')"
    )
    limits = Limits(60, 60, 300, memory_bytes=1 << 30, total_bytes=256 << 20)
    students = remote(hoards, DEFINES, limits=limits)
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert "together used too much memory" in students.runs[0].stopped
    assert students.limits_hit == ["cell 0: exit"]
    modest = hoards.replace("48", "8").replace("40", "1")
    students = remote(modest, DEFINES, limits=limits)
    run(students)
    assert printed(students) == "got it\n"


def test_memory_of_programs_is_not_taken_for_shared_memory(remote):
    """Each of the programs holds less than a fork would share with the parent."""
    hoards = (
        "import subprocess, sys, time\n"
        "code = 'import time; hoard = b\"x\" * (60 << 20)'\n"
        "command = [sys.executable, '-ISc', code + '; time.sleep(60)']\n"
        "for _ in range(16): subprocess.Popen(command)\ntime.sleep(40)\nprint('got it')"
    )
    limits = Limits(60, 60, 300, memory_bytes=1 << 30, total_bytes=400 << 20)
    students = remote(hoards, DEFINES, limits=limits)
    run(students)
    assert "together used too much memory" in students.runs[0].stopped


def test_memory_that_is_counted_nowhere_cannot_be_had(remote, parent):
    students = remote(
        "import os, ctypes\ntry:\n    os.memfd_create('hoard')\n"
        "    print('got it')\nexcept OSError as error:\n    print(error)\n"
        "library = ctypes.CDLL(None)\nprint(library.shmget(0, 4096, 0o1600))\n"
        # A pipe would keep a huge page of which it got one byte.
        "page, ends = ctypes.create_string_buffer(b'x'), os.pipe()\n"
        "part = (ctypes.c_size_t * 2)(ctypes.addressof(page), 1)\n"
        "print(library.vmsplice(ends[1], part, 1, 0))",
        DEFINES,
    )
    run(students)
    if parent.is_protected:
        assert printed(students) == "[Errno 38] Function not implemented\n-1\n-1\n"
