"""Tell how much memory a submission's processes hold together (Linux only).

Each process has a limit of its own; a submission that forks many could fill the machine
all the same.
"""

import functools
import os
import re
from collections import defaultdict
from collections.abc import Iterable

KIB = 1024
TOO_MUCH_MEMORY = -1  # in place of a status with which a process ends
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
            children[_parent_of(name)].append(int(name))
    found, waiting = [], [root]
    while waiting:
        found.append(waiting.pop())
        waiting += children[found[-1]]
    return found


def held_by(pid: int | str) -> int:
    """Return the bytes that a process holds outside of files, 0 if it has ended.

    The tables of its pages are among them.
    """
    return KIB * sum(map(int, KINDS.findall(_read(pid, "status"))))


def _parent_of(pid: str) -> int:
    """Return the number of a process's parent, 0 if it has ended.

    Its name, in parentheses, may hold anything.
    """
    text = _read(pid, "stat").rpartition(")")[2].split()
    return int(text[1]) if len(text) > 1 else 0


def _read(pid: int | str, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
