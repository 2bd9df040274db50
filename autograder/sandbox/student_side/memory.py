"""Tell how much memory a submission's processes hold together (Linux only).

Each process has a limit of its own; a submission that forks many could fill the machine
all the same.
"""

import functools
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .processors import seconds_used, seconds_waited, step_back

KIB = 1024
PARENT, STARTED = 1, 19  # of /proc/PID/stat, behind the name
TOO_MUCH_MEMORY = -1  # in place of a status with which a process ends
OF_SIGNAL = 128  # and its number: the exit code for a fork that a signal has ended
KINDS = re.compile(r"^(?:RssAnon|RssShmem|VmPTE):\s+(\d+) kB", re.MULTILINE)
SOCKETS = re.compile(r"^sockets: used (\d+)$", re.MULTILINE)


def memory_of(processes: Iterable[int], shared: int = 0) -> int:
    """Return the bytes of memory that some processes hold.

    Args:
        processes: their numbers.
        shared: how many bytes of each are those that it was forked with, and not its
            own.
    """
    return sum(max(0, held_by(pid) - shared) for pid in processes)


def sockets_of(root: int) -> int:
    """Return how many bytes the sockets of a process's own network may hold.

    What is sent and not read is the kernel's memory, which it counts for nobody.
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
    """Return the numbers of a process and of its descendants."""
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
    """Return a process's first child among some; None if there is none.

    Of a process that forks itself for one exercise after another it is the fork.
    """
    children = [pid for pid in processes if int(_of(pid, PARENT)) == root]
    return min(children, key=lambda pid: int(_of(pid, STARTED)), default=None)


def held_by(pid: int | str) -> int:
    """Return the bytes that a process holds outside of files, 0 if it has ended.

    The tables of its pages are among them.
    """
    return KIB * sum(map(int, KINDS.findall(_read(pid, "status"))))


def _of(pid: int | str, number: int) -> str:
    """Return one of the numbers that are told of a process; "0" if it has ended.

    Its name, in parentheses, may hold anything.
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
    """A process that was forked, and how much memory all it starts may take.

    If it `forks`, it forks itself for each exercise and waits; `waited` says how many
    seconds others had the processors while such forks wanted one. `used` says how many
    seconds of processors each of its other threads has had, also in other processes.
    """

    pid: int
    total_bytes: int
    has_own_network: bool
    account: int | None = None
    forks: bool = False
    waited: dict[int, float] = field(default_factory=dict)
    used: dict[int, float] = field(default_factory=dict)

    def held(self, shared: int) -> int:
        """Return what its processes hold; `shared` bytes each are not its own.

        All but the one that answers are made to wait for those of other submissions.
        What a fork has of the process that it is of is counted once.
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
        """Return how long it and its forks wanted a processor that others had."""
        waited = seconds_waited(self.pid) + sum(self.waited.values())
        return max(0.0, waited - sum(self.used.values()))
