"""Measure the total memory of all processes of a submission (Linux only).

Each process has its own limit, but a submission that forks many processes could still
fill the machine's memory.
"""

import functools
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .processors import seconds_used, seconds_waited, step_back

KIB = 1024
PARENT, STARTED = 1, 19  # fields of /proc/PID/stat after the name
TOO_MUCH_MEMORY = -1  # used in place of an exit status
OF_SIGNAL = 128  # plus the signal's number: the exit code of a fork that was killed
KINDS = re.compile(r"^(?:RssAnon|RssShmem|VmPTE):\s+(\d+) kB", re.MULTILINE)
SOCKETS = re.compile(r"^sockets: used (\d+)$", re.MULTILINE)


def memory_of(processes: Iterable[int], shared: int = 0) -> int:
    """Return how many bytes of memory some processes hold.

    Args:
        processes: the ids of the processes.
        shared: the number of bytes that each process shares with its parent.
    """
    return sum(max(0, held_by(pid) - shared) for pid in processes)


def sockets_of(root: int) -> int:
    """Return the most bytes that the sockets in a process's network can occupy.

    Data that were sent but not yet read use kernel memory, which the kernel does not
    count as memory of any process.
    """
    found = SOCKETS.search(_read(root, "net/sockstat"))
    return int(found[1]) * _most_of_a_socket() if found else 0


@functools.cache
def _most_of_a_socket() -> int:
    try:
        with open("/proc/sys/net/core/wmem_max") as file:
            return 2 * int(file.read())
    except OSError:
        return 1 << 20


def family(root: int) -> list[int]:
    """Return the numbers of a process and its descendants."""
    children = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            children[int(_of(name, PARENT))].append(int(name))
    found, waiting = [], [root]
    while waiting:
        found.append(waiting.pop())
        waiting += children[found[-1]]
    return found


def eldest_of(root: int, processes: Iterable[int]) -> int | None:
    """Return the child of `root` that started first among some processes, or None.

    If a process forks itself once for each exercise, this is the current fork.
    """
    children = [pid for pid in processes if int(_of(pid, PARENT)) == root]
    return min(children, key=lambda pid: int(_of(pid, STARTED)), default=None)


def held_by(pid: int | str) -> int:
    """Return a process's memory in bytes without mapped files, or 0 if it has ended.

    The page tables are included.
    """
    return KIB * sum(map(int, KINDS.findall(_read(pid, "status"))))


def _of(pid: int | str, number: int) -> str:
    """Return one field of /proc/PID/stat, or "0" if the process has ended.

    The name field, in parentheses, may contain any characters, so skip to the last ")".
    """
    text = _read(pid, "stat").rpartition(")")[2].split()
    return text[number] if len(text) > number else "0"


def _read(pid: int | str, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


@dataclass
class Child:
    """A forked process, and the memory limit for it and its descendants.

    If `forks` is True, the process forks itself for each exercise and waits for the
    fork. `waited` is the time in seconds that each such fork waited for a processor.
    `used` is the processor time in seconds of each thread other than the main threads
    of this process and its fork.
    """

    pid: int
    total_bytes: int
    has_own_network: bool
    account: int | None = None
    forks: bool = False
    waited: dict[int, float] = field(default_factory=dict)
    used: dict[int, float] = field(default_factory=dict)

    def held(self, shared: int) -> int:
        """Return the bytes that its processes hold, minus `shared` bytes for each.

        Also lower the priority of all its processes except the one that answers
        requests. Memory that a fork shares with its parent is counted once.
        """
        processes = family(self.pid)
        fork = eldest_of(self.pid, processes) if self.forks else None
        step_back({self.pid, fork or 0}, processes)
        self.used.update(seconds_used({self.pid, fork or 0}, processes))
        if fork is None:
            held = memory_of(processes, shared)
        else:
            self.waited[fork] = seconds_waited(fork)
            held = memory_of([pid for pid in processes if pid != fork], shared)
            held += memory_of([fork], max(shared, held_by(self.pid)))
        return held + (sockets_of(self.pid) if self.has_own_network else 0)

    def seconds_waited(self) -> float:
        """Return how many seconds the process and its forks waited for a processor."""
        waited = seconds_waited(self.pid) + sum(self.waited.values())
        return max(0.0, waited - sum(self.used.values()))
