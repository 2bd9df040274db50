"""Start processes that grade and write for this one, with limits, and end them.

They work on text that anybody may have written. What hangs there, in Python or in a
parser's C code, is ended by the kernel, and costs one submission.
"""

import contextlib
import gc
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.sandbox.limits import Limits
from autograder.sandbox.prestart import processes
from autograder.sandbox.student_side.namespaces import die_with_parent

PATIENCE = 5  # seconds in which an idle process must end
TOO_SLOW = (
    "reading, checking or showing it kept the grader busy for too long: "
    "it is not as notebooks are"
)


class WorkerProcess:
    """One process that works for this one, and the line to it.

    Attributes:
        process: the process.
        connection: what is sent to it, and what it answers.
    """

    def __init__(self, target: Callable[..., None], *arguments: Any):
        """Start `target(connection, *arguments)` in a process of its own."""
        self.connection, theirs = processes().Pipe()
        self.process = processes().Process(
            target=target, args=(theirs, *arguments), daemon=False
        )
        with theirs:
            self.process.start()

    def end(self, patience: float) -> int | None:
        """End the process, which gets so many seconds; return its exit code."""
        self.connection.close()
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return code


def was_too_slow(exit_code: int | None) -> bool:
    """Say whether the kernel ended a process for the time that it took."""
    return exit_code is not None and exit_code == -getattr(signal, "SIGPROF", 0)


def begin_working() -> None:
    """Make this a worker process: it ends with its parent, and Ctrl-C is not for it.

    What it has imported is no garbage, and need not be looked through for any.
    """
    gc.freeze()
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Let this process take the grader's share of a submission's limits meanwhile.

    Too much time ends this process; too much memory is a `MemoryError`.

    The timer counts from now. `RLIMIT_CPU` counts from the process's start, by the
    kernel's ticks, of which `getrusage` may know a third less: after some thousands
    of submissions, nothing would be left for one more.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        yield
        return
    most = {resource.RLIMIT_CORE: 0}
    if held := _data_bytes():
        most[resource.RLIMIT_DATA] = held + limits.grader_bytes
    before = {kind: resource.getrlimit(kind) for kind in most}
    try:
        for kind, value in most.items():
            hard = before[kind][1]
            resource.setrlimit(kind, (value if hard < 0 else min(hard, value), hard))
        signal.setitimer(signal.ITIMER_PROF, limits.grader_seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for kind, both in before.items():
            resource.setrlimit(kind, both)


def _data_bytes() -> int:
    """Return what the kernel counts as this process's data; 0 where it does not say."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0
