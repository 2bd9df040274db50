"""Move a forked child into its own namespaces, without capabilities (Linux only)."""

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterator

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC, MS_PRIVATE = 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 24, 36
SIGKILL, LAST_CAPABILITY = 9, 63


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def become_subreaper() -> None:
    """Make this process the parent of its orphaned descendants."""
    if _libc is not None:
        _call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextlib.contextmanager
def fork_apart() -> Iterator[None]:
    """Let the next fork become process 1 of its own process namespace."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("unshare", CLONE_NEWPID)
        try:
            yield
        finally:  # even after a failed fork, because the next fork needs it
            _call("setns", own, CLONE_NEWPID)
    finally:
        os.close(own)


@functools.cache
def can_fork_apart() -> bool:
    """Return whether this process may use `fork_apart`, which needs root.

    The kernel must also let the process return to its own namespace. If this function
    returns False, a process forks twice instead, and the process in between enters the
    namespace.
    """
    try:
        with fork_apart():
            pass
    except OSError:
        return False
    return True


def enter_namespaces(kind: str, apart: bool) -> None:
    """Leave the network, process list and mounts that other processes share.

    Args:
        kind: "root" if this process may make namespaces directly, "user" if it needs a
            user namespace first.
        apart: whether this process already has its own process namespace. Otherwise,
            the next fork of this process becomes process 1 of a new namespace.
    """
    spaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    spaces |= 0 if apart else CLONE_NEWPID
    if kind == "root":
        _call("unshare", spaces)
    else:
        _enter_user_namespace(spaces)


def _enter_user_namespace(others: int = 0) -> None:
    user, group = os.getuid(), os.getgid()
    _call("unshare", CLONE_NEWUSER | others)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def mount_own_folders(folder: str, size: int, user: int) -> None:
    """Give this process its own empty folders and its own process list.

    Args:
        folder: its working folder.
        size: the maximum size of each folder in bytes.
        user: the user who may write there.
    """
    _mount("none", "/", None, MS_REC | MS_PRIVATE, None)
    options = f"size={size},nr_inodes=4096,mode=700,uid={user},gid={user}"
    places = [folder, "/scratch", "/dev/shm"]
    if not any(root.startswith("/tmp/") for root in (sys.prefix, sys.base_prefix)):
        places.append("/tmp")  # if /tmp contains Python itself, it stays read-only
    for place in places:
        _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, options)
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)


def become_nobody(user: int) -> None:
    """Become `user`, without root's capabilities, in a new user namespace."""
    become_account(user)
    _enter_user_namespace()


def become_account(user: int) -> None:
    """Become `user`, who owns nothing and has no capabilities; this needs root."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)


def give_up_rights() -> None:
    """Drop every capability permanently, and die when the parent dies."""
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(LAST_CAPABILITY + 1):
        _ask("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = _CapabilityHeader(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _call("capset", ctypes.byref(header), ctypes.byref(nothing))


def forbid_nested_namespaces() -> None:
    """Stop the student's code from making its own namespaces."""
    for kind in ("user", "mnt", "pid", "net"):
        _write(f"/proc/sys/user/max_{kind}_namespaces", "0")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends."""
    if _libc is not None:
        _call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _mount(
    source: str, target: str, kind: str | None, flags: int, data: str | None
) -> None:
    coded = [None if x is None else x.encode() for x in (source, target, kind, data)]
    _call("mount", coded[0], coded[1], coded[2], ctypes.c_ulong(flags), coded[3])


def _call(name: str, *args: object) -> None:
    if _ask(name, *args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _ask(name: str, *args: object) -> int:
    """Call a function of the C library and return its status."""
    return getattr(_libc, name)(*args)
