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
KINDS = re.compile(
    r"^(?:RssAnon|RssShmem|VmPTE|HugetlbPages):\s+(\d+) kB", re.MULTILINE
)
OTHERS = re.compile(r"^(?:VmPTE|HugetlbPages):\s+(\d+) kB", re.MULTILINE)
SHARES = re.compile(r"^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB", re.MULTILINE)
USER = re.compile(r"^Uid:\s+(\d+)", re.MULTILINE)
SOCKETS = re.compile(r"^sockets: used (\d+)$", re.MULTILINE)


def memory_of(processes: Iterable[int], shared: int = 0) -> int:
    """Return how many bytes of memory some processes hold.

    Args:
        processes: the ids of the processes.
        shared: the number of bytes that each process shares with its parent.
    """
    return sum(max(0, held_by(pid) - shared) for pid in processes)


def share_of(pid: int) -> int:
    """Return a process's share of the memory that it holds, in bytes.

    If n processes share a page, each of them holds one nth of it. A process that hides
    its share holds all of its memory.
    """
    shares = SHARES.findall(_read(pid, "smaps_rollup"))
    if not shares:
        return held_by(pid)
    others = OTHERS.findall(_read(pid, "status"))
    return KIB * sum(map(int, (*shares, *others)))


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


def family(root: int, account: int | None = None) -> list[int]:
    """Return the numbers of a process, its descendants and an account's processes."""
    children = defaultdict(list)
    found, waiting = [], [root]
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        children[int(_of(name, PARENT))].append(int(name))
        # Without a namespace of its own, an orphan would leave the family.
        user = USER.search(_read(name, "status")) if account is not None else None
        if user and int(user[1]) == account and int(name) != root:
            waiting.append(int(name))
    while waiting:
        found.append(waiting.pop())
        waiting += children[found[-1]]
    return list(dict.fromkeys(found))


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
    of this process and its fork. `tells_shares` is whether this process may read how
    much memory the processes share.
    """

    pid: int
    total_bytes: int
    has_own_network: bool
    account: int | None = None
    forks: bool = False
    waited: dict[int, float] = field(default_factory=dict)
    used: dict[int, float] = field(default_factory=dict)
    tells_shares: bool = field(init=False)

    def __post_init__(self) -> None:
        """Try to read the share of the process, before it runs any student's code."""
        self.tells_shares = bool(_read(self.pid, "smaps_rollup"))

    def held(self, shared: int) -> int:
        """Return the bytes that its processes hold without the parent's `shared` bytes.

        Also lower the priority of all its processes except the one that answers
        requests. Memory that a fork shares with its parent is counted once.

        Reading the shares takes several milliseconds. It is only necessary if the
        processes together could hold much.
        """
        processes = family(self.pid, self.account)
        fork = eldest_of(self.pid, processes) if self.forks else None
        step_back({self.pid, fork or 0}, processes)
        self.used.update(seconds_used({self.pid, fork or 0}, processes))
        if fork is not None:
            self.waited[fork] = seconds_waited(fork)
        if self.tells_shares and memory_of(processes) > self.total_bytes // 2:
            # A page of the parent counts equally for all processes that share it, also
            # for those of other submissions.
            of_parent = min(shared, len(processes) * share_of(os.getpid()))
            held = max(0, sum(map(share_of, processes)) - of_parent)
        elif fork is None:
            held = memory_of(processes, shared)
        else:
            held = memory_of([pid for pid in processes if pid != fork], shared)
            held += memory_of([fork], max(shared, held_by(self.pid)))
        return held + (sockets_of(self.pid) if self.has_own_network else 0)

    def seconds_waited(self) -> float:
        """Return how many seconds the process and its forks waited for a processor."""
        waited = seconds_waited(self.pid) + sum(self.waited.values())
        return max(0.0, waited - sum(self.used.values()))
