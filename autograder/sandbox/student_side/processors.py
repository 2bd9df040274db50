"""Share the processors fairly between submissions (Linux only).

Each has one process, the one that answers, that weighs as much as another
submission's. All that it starts beside gets what nobody else wants. How long a process
wanted a processor that others had, the kernel counts.
"""

import contextlib
import os
from collections.abc import Container, Iterable, Iterator

NANOSECONDS = 1e9
LAST = 19  # of `nice`: sixty of these weigh as much as one usual process


def seconds_waited(process: int | str = "thread-self") -> float:
    """Return how long a process's first thread has waited for a processor.

    0 where nobody counts it, or if the process has ended. By default it is for the
    calling thread.
    """
    return _schedule(process, 1)


def seconds_used(
    first: Container[int], processes: Iterable[int]
) -> Iterator[tuple[int, float]]:
    """Yield all threads of some processes, but for the `first` ones.

    Each comes with the time for which it has had a processor.
    """
    for process in processes:
        for thread in _threads_of(process):
            if thread not in first:
                yield thread, _schedule(f"{process}/task/{thread}", 0)


def _schedule(process: int | str, column: int) -> float:
    try:
        with open(f"/proc/{process}/schedstat") as file:
            return int(file.read().split()[column]) / NANOSECONDS
    except (OSError, ValueError, IndexError):
        return 0.0


def step_back(first: Container[int], processes: Iterable[int]) -> None:
    """Let all threads of some processes wait for others, but for the `first` ones.

    What they start will do so too.
    """
    for process in processes:
        for thread in _threads_of(process):
            if thread not in first:
                with contextlib.suppress(OSError):  # it has ended, or is not ours
                    os.setpriority(os.PRIO_PROCESS, thread, LAST)


def _threads_of(process: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{process}/task")]
    except OSError:
        return []
