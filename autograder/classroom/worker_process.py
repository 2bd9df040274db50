"""Start processes that grade and write, limit their resources and end them.

These processes read text that anybody may have written. If Python or a parser's C code
hangs on such a text, the kernel ends the process, and only one submission is lost.
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

PATIENCE = 5  # seconds that an idle process has to end by itself
TOO_SLOW = (
    "reading, checking or showing it kept the grader busy for too long: "
    "it is not an ordinary notebook"
)


class WorkerProcess:
    """Manage one worker process and the connection to it.

    Attributes:
        process: the process.
        connection: carries requests to it, and its answers back.
    """

    def __init__(self, target: Callable[..., None], *arguments: Any):
        """Start `target(connection, *arguments)` in a separate process."""
        self.connection, theirs = processes().Pipe()
        self.process = processes().Process(
            target=target, args=(theirs, *arguments), daemon=False
        )
        with theirs:
            self.process.start()

    def end(self, patience: float) -> int | None:
        """End the process after at most `patience` seconds; return its exit code."""
        self.connection.close()
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return code


def was_too_slow(exit_code: int | None) -> bool:
    """Return whether the kernel ended a process because it exceeded the time limit."""
    return exit_code is not None and exit_code == -getattr(signal, "SIGPROF", 0)


def begin_working() -> None:
    """Make this process end with its parent and ignore Ctrl-C.

    Also exclude all imported objects from garbage collection, because they are never
    garbage.
    """
    gc.freeze()
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Apply the grader's time and memory limits within a `with` block.

    Exceeding the time limit ends this process. Exceeding the memory limit raises
    `MemoryError`.

    The timer starts with the block. `RLIMIT_CPU` would count from the start of the
    process, in kernel ticks, which can exceed the time of `getrusage` by half. After
    some thousands of submissions, no time would be left for another submission.
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
    """Return the size of this process's data segment, or 0 if it is unknown."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0
