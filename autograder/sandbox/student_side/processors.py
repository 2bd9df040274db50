"""Share the processors fairly between submissions (Linux only).

Each submission has one process that answers requests, and these processes have equal
priority. Any other process of a submission gets the lowest priority. The kernel
measures how long a process had to wait.
"""

import contextlib
import os
from collections.abc import Container, Iterable, Iterator

NANOSECONDS = 1e9
LAST = 19  # the lowest priority: sixty such processes weigh as much as a normal one


def seconds_waited(process: int | str = "thread-self") -> float:
    """Return how many seconds a process's first thread has waited for a processor.

    Return 0 if the system does not measure this, or if the process has ended. The
    default is the calling thread.
    """
    return _schedule(process, 1)


def seconds_used(
    first: Container[int], processes: Iterable[int]
) -> Iterator[tuple[int, float]]:
    """Yield the threads of some processes, except the `first` ones, with their times.

    The time is the processor time in seconds that the thread has used.
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
    """Lower the priority of all threads of some processes, except the `first` ones.

    Processes that they start inherit the low priority.
    """
    for process in processes:
        for thread in _threads_of(process):
            if thread not in first:
                with contextlib.suppress(OSError):  # it has ended, or is another user's
                    os.setpriority(os.PRIO_PROCESS, thread, LAST)


def _threads_of(process: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{process}/task")]
    except OSError:
        return []
