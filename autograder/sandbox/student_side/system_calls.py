"""Block system calls in a child permanently with a kernel filter (Linux only).

The blocked calls can hold memory that is not counted, or give access to parts of the
kernel that no submission needs. A blocked call fails with "not implemented". Sockets
work only within the machine, and processes can share memory only through files. A lock
on a file has no effect, because two submissions could otherwise communicate through
locks on a file that both can read.
"""

import ctypes
import errno
import mmap
import os
import socket
import struct
from collections.abc import Iterator, Sequence

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER_AT, MACHINE_AT = 0, 4  # offsets in struct seccomp_data
FIRST_ARGUMENT_AT, SECOND_ARGUMENT_AT, FOURTH_ARGUMENT_AT = 16, 24, 40
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NOTHING = ERROR  # error number 0: the call does nothing and succeeds
SHARED_AND_ANONYMOUS = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
X32_CALLS = 0x40000000  # x86-64 has a second set of numbers for the same calls

CALLS = {  # numbers on x86-64 and arm64, from Linux's tables
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "inotify_init": (253, 26),  # it reports files that others open; arm64 lacks it
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "splice": (275, 76),  # a pipe keeps pages that are mapped no longer
    "tee": (276, 77),
    "vmsplice": (278, 75),
}
PROGRAMS = {"execve": (59, 221), "execveat": (322, 281)}
SOCKET, SOCKET_PAIR, MMAP = (41, 198), (53, 199), (9, 222)
FLOCK, FCNTL = (73, 32), (72, 25)
LOCKS = (5, 6, 7, 36, 37, 38)  # F_GETLK to F_SETLKW, F_OFD_GETLK to F_OFD_SETLKW
NOTICES = (1024, 1025, 1026)  # F_SETLEASE, F_GETLEASE, F_NOTIFY
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid_calls() -> None:
    """Block `CALLS`, networks and shared memory in this process and its descendants.

    The process must have given up its capabilities before. On processors other than
    x86-64 and arm64, nothing is blocked.

    Raises:
        OSError: if the kernel refuses.
    """
    _set_filter(CALLS)


def forbid_programs() -> None:
    """Stop this process and its descendants from running another program.

    Raises:
        OSError: if the kernel refuses.
    """
    _set_filter(PROGRAMS)


def _set_filter(calls: dict[str, tuple[int, int]]) -> None:
    machine = os.uname().machine
    if machine not in MACHINES:
        return
    code = _filter(*MACHINES[machine], calls)
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _filter(column: int, machine: int, calls: dict[str, tuple[int, int]]) -> bytes:
    """Return the filter's instructions: (code, jump if true, jump if false, value)."""
    numbers, commands = [both[column] for both in calls.values()], LOCKS + NOTICES
    steps = [
        (LOAD, 0, 0, MACHINE_AT),
        (JUMP_EQUAL, 1, 0, machine),  # 32-bit programs use other numbers for the calls
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_AT_LEAST, 0, 1, X32_CALLS),
        (RETURN, 0, 0, KILL),
        (JUMP_EQUAL, 1, 0, SOCKET[column]),
        (JUMP_EQUAL, 0, 4, SOCKET_PAIR[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (JUMP_EQUAL, 0, 1, socket.AF_UNIX),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ERROR | errno.EACCES),
        # The memory limit counts mapped pages, and this memory would not be mapped.
        (JUMP_EQUAL, 0, 5, MMAP[column]),
        (LOAD, 0, 0, FOURTH_ARGUMENT_AT),
        (AND, 0, 0, SHARED_AND_ANONYMOUS),
        (JUMP_EQUAL, 0, 1, SHARED_AND_ANONYMOUS),
        (RETURN, 0, 0, ERROR | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
        (JUMP_EQUAL, 0, 1, FLOCK[column]),
        (RETURN, 0, 0, NOTHING),
        (JUMP_EQUAL, 0, len(commands) + 3, FCNTL[column]),
        (LOAD, 0, 0, SECOND_ARGUMENT_AT),
        *((JUMP_EQUAL, left, 0, one) for left, one in _counting_down(commands)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, NOTHING),
    ]
    steps += [(JUMP_EQUAL, left, 0, number) for left, number in _counting_down(numbers)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERROR | errno.ENOSYS)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _counting_down(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield for each number a pair: the number of steps to the end, and the number."""
    yield from zip(range(len(numbers), 0, -1), numbers, strict=True)
