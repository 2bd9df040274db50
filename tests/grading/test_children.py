"""Children: limits, crashes, what they can reach and what they leave behind."""

import os
import time

import pytest
import torch

from autograder.failure import StudentGone
from autograder.student.limits import Limits

DEFINES = "def double(x):\n    return 2 * x\n"


def run(students, name="double", exercise="any"):
    with students.fresh(exercise) as student:
        student.begin(0)
        return student[name](torch.ones(2))


def printed(students):
    return "".join(
        item["text"] for one in students.runs for item in one.outputs if "text" in item
    )


def test_outputs_of_cells_are_kept_and_errors_stop_no_other_cell(remote):
    students = remote("print('hello')\n3", "1 / 0", "%time x = 1", DEFINES)
    assert torch.equal(run(students), torch.full((2,), 2.0))
    first, second, _, _ = students.runs
    assert first.outputs[0]["text"] == "hello\n"
    assert first.outputs[1]["data"]["text/plain"] == "3"
    assert second.error["type"] == "ZeroDivisionError"


def test_output_is_bounded(remote):
    students = remote("print('x' * 10_000_000)", DEFINES)
    run(students)
    assert len(printed(students)) < 100_000
    assert "output truncated" in printed(students)


def test_a_cell_that_never_ends_is_stopped_and_left_out(remote):
    students = remote("while True:\n    pass", DEFINES)
    started = time.monotonic()
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert time.monotonic() - started < 3 + 2
    assert "stopped after 3 s" in students.runs[0].stopped
    started = time.monotonic()
    run(students)
    assert time.monotonic() - started < 2


def test_a_cell_that_ends_its_process_is_left_out(remote):
    students = remote("import os\nos._exit(3)", DEFINES)
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert "exit code 3" in students.runs[0].stopped


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: pass", "stopped after 3 s"),
        ("import os; os._exit(0)", "ended by itself"),
        ("import ctypes; ctypes.string_at(0)", "ended by signal 11"),
        (
            "import signal; signal.signal(15, signal.SIG_IGN); __import__('time')"
            ".sleep(99)",
            "stopped after 3 s",
        ),
    ],
)
def test_a_call_that_never_returns_ends_the_exercise_only(remote, body, words):
    students = remote(DEFINES, f"def bad(x):\n    {body}\n")
    started = time.monotonic()
    with pytest.raises(StudentGone, match=words):
        run(students, "bad")
    assert time.monotonic() - started < 3 + 2
    assert torch.equal(run(students), torch.full((2,), 2.0))


def test_each_exercise_has_a_fresh_process(remote):
    students = remote(
        "count = []", "def double(x):\n    count.append(1)\n    return x * len(count)"
    )
    for _ in range(2):
        assert torch.equal(run(students), torch.ones(2))


def test_the_submission_as_a_whole_has_a_limit(remote):
    limits = Limits(cell_seconds=1, exercise_seconds=1, submission_seconds=2)
    students = remote(*["while True: pass"] * 20, DEFINES, limits=limits)
    started = time.monotonic()
    with pytest.raises(StudentGone, match="more than 2 s"):
        run(students)
    assert time.monotonic() - started < 2 + 2


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


def test_the_sandbox_hides_the_machine(remote, parent, tmp_path):
    if not parent.is_protected:
        pytest.skip("without a sandbox nothing is hidden, and the grader says so")
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
    assert lines == ["False False", "ConnectionRefusedError", "[1]", "True"] or (
        lines == ["False False", "OSError", "[1]", "True"]
    )


def test_nothing_is_left_behind(remote, parent):
    if not parent.is_protected:
        pytest.skip(
            "without a sandbox a detached process stays, and the grader says so"
        )
    marker = "987654.25"
    students = remote(
        "import subprocess\nsubprocess.Popen(['/bin/sh', '-c', 'setsid sleep "
        f"{marker} &'])\nopen('/tmp/left', 'w').write('x')",
        "import os\nprint(os.path.exists('/tmp/left'))",
        DEFINES,
    )
    run(students)
    assert marker not in _command_lines()
    students = remote("import os\nprint(os.path.exists('/tmp/left'))", DEFINES)
    run(students)
    assert printed(students) == "False\n"


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
    limits = Limits(3, 3, 20, memory_bytes=1 << 30, processes=40)
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
