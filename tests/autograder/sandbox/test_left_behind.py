"""The search for traces of attacks finds them, and nothing else."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from class_of_cases import processes, running

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks for processes in /proc"
)


@contextlib.contextmanager
def orphan(command: str, marker: str) -> Iterator[None]:
    """Run an orphaned command, and end the processes with the marker."""
    line = f"({command}) >/dev/null &"
    subprocess.run(["/bin/sh", "-c", line], check=True)
    try:
        yield
    finally:
        for found in left(set(), marker):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(found.split()[0]), signal.SIGKILL)


def left(known: set[int], marker: str) -> list[str]:
    """Return the traces of an attack with a marker."""
    return [found for found in processes(known) if marker in found]


def appears(known: set[int], marker: str) -> bool:
    """Wait for it: while a program replaces another one, it has no command line."""
    until = time.monotonic() + 60
    while not left(known, marker) and time.monotonic() < until:
        time.sleep(0.01)
    return time.monotonic() < until


def test_what_an_attack_leaves_is_found():
    known, marker = running(), f"98765.{os.getpid()}1"
    child = subprocess.Popen(["sleep", marker])
    try:
        assert appears(known, marker)
    finally:
        child.kill()
        child.wait()
    assert not left(known, marker)
    with orphan(f"sleep {marker}", marker):
        assert appears(known, marker)


def test_what_another_program_has_started_is_no_attacks():
    marker = f"98765.{os.getpid()}2"
    with orphan(f"sleep {marker}; true", marker):
        assert appears(set(), marker)
        assert not left(running(), marker)
