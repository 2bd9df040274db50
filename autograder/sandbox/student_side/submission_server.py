"""Serve one submission: set up its folder, run its cells and answer the checks."""

import contextlib
import os
import resource
import signal
import sys
import time
from importlib.abc import MetaPathFinder
from typing import Any

import torch

from . import kit
from .cells import CellRunner, quiet_environment
from .memory import OF_SIGNAL
from .messages import Channel, ChannelClosed, Message
from .namespaces import die_with_parent
from .removal import note_functions, remove
from .requests import Session
from .values import Decoder, Encoder, Reference

PRIVATE = ("autograder", "nbgrader_config")
OWN = (
    "/scratch",
    "/dev/shm",
    "/tmp",
)  # also in a child in a sandbox
AS_ASKED = 99  # the exit code of a fork that ended on request


class OnlyTheKit(MetaPathFinder):
    """Block imports of private packages, and import `transformer` only from the kit."""

    def __init__(self, kit: str):
        """Allow `transformer` if the folder `kit` contains it."""
        self.kit = kit

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Refuse private names, and leave all other names to the other finders."""
        top = name.partition(".")[0]
        absent = not os.path.isdir(os.path.join(self.kit, "transformer"))
        if top in PRIVATE or (top == "transformer" and absent):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def close_the_doors(folder: str) -> None:
    """Make imports search `folder` first and never find the repository.

    An editable install adds finders and paths through which code could import the
    answers.
    """
    editable = [f for f in sys.meta_path if "__editable__" in _module_of(f)]
    for finder in editable:
        sys.meta_path.remove(finder)
    sys.path_hooks[:] = [h for h in sys.path_hooks if "__editable__" not in repr(h)]
    sys.path[:] = [folder, *(p for p in sys.path if _is_installation(p))]
    sys.meta_path.insert(0, OnlyTheKit(folder))


def before_forks() -> None:
    """Do the work that is the same for every child once, after the last import."""
    for path in [one for one in sys.path_importer_cache if not _is_installation(one)]:
        del sys.path_importer_cache[path]
    Forks.shared = _shares_memory()
    note_functions()


def _module_of(finder: Any) -> str:
    return getattr(finder, "__module__", "") or type(finder).__module__


def _is_installation(path: str) -> bool:
    """Return whether a path belongs to Python or to its installed packages."""
    roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    known = ("site-packages", "dist-packages", "python3")
    inside = any(path.startswith(root) for root in roots)
    return inside and any(part in path for part in known)


def limit_resources(limits: dict[str, int]) -> None:
    """Limit the process's memory, processes and file sizes, and forbid core files.

    Also make the kernel kill this process first if the machine runs out of memory.
    """
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def lift_limits() -> None:
    """Raise this process's memory limit to the hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def compute_exactly() -> None:
    """Disable TF32 on a GPU, because checks compare with exact products."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


class Forks:
    """Fork this process once for each exercise, in the state after the cells.

    A fork has its own copy of the memory. It would share or lack everything else:
    threads, processes, alarms, open files, the files in its folders, and shared memory.
    The process therefore does not fork if the cells have started or opened anything, or
    if an exercise has changed a file.
    """

    shared = 0  # number of shared mappings before any cell has run

    def __init__(self, folder: str):
        """Record the open files before any cell has run in `folder`."""
        self.folders = [folder, *(one for one in OWN if _is_ours(one, folder))]
        self.opened = _open_files()
        self.files: list[tuple[str, int, int]] | None = None
        self.shares = False

    def go_on_in_one(self, channel: Channel) -> None:
        """Fork, report the fork and continue in it; the original process waits.

        If the fork ends without a request to end, the original process ends with the
        same status.
        """
        if not self._are_possible():
            channel.send(Message({"ok": False}))
            return
        try:
            pid = os.fork()
        except OSError:  # the limit on processes is reached
            channel.send(Message({"ok": False}))
            return
        if pid == 0:
            die_with_parent()
            channel.send(Message({"ok": True}))
            return
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code != AS_ASKED:
            os._exit(code if code >= 0 else OF_SIGNAL - code)

    def _are_possible(self) -> bool:
        try:
            is_alone = len(os.listdir("/proc/self/task")) == 1 and not _has_children()
            files = [one for place in self.folders for one in _files_in(place)]
            if self.files is None:
                self.files, self.shares = files, _shares_memory() > self.shared
        except OSError:  # the folder is missing or belongs to another user
            return False
        is_quiet = not (self.shares or any(signal.getitimer(signal.ITIMER_REAL)))
        is_as_before = _open_files() == self.opened and files == self.files
        return is_alone and is_quiet and is_as_before


def _is_ours(place: str, folder: str) -> bool:
    """Return whether a folder in a sandbox is mounted only for this child."""
    try:
        return folder == kit.FOLDER and os.stat(place).st_uid == os.getuid()
    except OSError:
        return False


def _shares_memory() -> int:
    """Return how many memory mappings this process would share with its forks."""
    try:
        with open("/proc/self/maps") as file:
            return file.read().count(" rw-s ")
    except OSError:  # not Linux, where no process forks
        return 0


def _open_files() -> list[str]:
    return os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _files_in(folder: str) -> list[tuple[str, int, int]]:
    """Return each file's path, size and modification time."""
    found, waiting = [], [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                details = entry.stat(follow_symlinks=False)
                found.append((entry.path, details.st_size, details.st_mtime_ns))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return sorted(found)


def serve(channel: Channel, runner: CellRunner, folder: str, device: str) -> None:
    """Answer the grader's requests until it closes the channel; checks use `device`."""
    os.chdir(folder)
    quiet_environment(folder)
    close_the_doors(folder)
    compute_exactly()
    session = Session(
        runner.namespace, lambda question: _ask(channel, question), device
    )
    fork = Forks(folder)
    while True:
        try:
            request = channel.receive()
        except ChannelClosed:
            return
        if "cell" in request.body:
            channel.send(_run_cell(request, runner))
        elif "files" in request.body:
            kit.write(folder, request.body["files"], request.blob)
            channel.send(Message({"ok": None}))
        elif "remove" in request.body:
            remove(request.body["remove"])
            channel.send(Message({"ok": None}))
        elif "fork" in request.body:
            fork.go_on_in_one(channel)
        elif "end" in request.body:
            os._exit(AS_ASKED)
        else:
            channel.send(session.answer(request))


def _ask(channel: Channel, question: Message) -> Message:
    channel.send(question)
    return channel.receive()


def _run_cell(request: Message, runner: CellRunner) -> Message:
    decoder = Decoder(request, _no_reference)
    number, source = decoder.part("cell"), decoder.part("source")
    started = time.monotonic()
    report = runner.run(number, source)
    report["seconds"] = time.monotonic() - started
    return Encoder(_no_reference).message(ran=report)


def _no_reference(value: Any) -> Reference:
    raise ValueError(f"a {type(value).__name__} has no place here")
