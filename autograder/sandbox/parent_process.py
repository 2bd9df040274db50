"""Start the process of a pre-warmed parent in its own home folder, and end it."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from autograder.sandbox.bubblewrap import CHILD, NO_FORK, SCRATCH, sandbox_command
from autograder.sandbox.control_channel import START_SECONDS, ControlChannel, NoParent

END_SECONDS = 5
HOME, LOCK, SAID = "course-grader-", "in-use.lock", "said.txt"


class LockedTempDir(NamedTuple):
    """A temporary folder, and the lock held on it while it is in use."""

    folder: str
    lock: FileLock

    def said(self) -> str:
        """Return the last 2,000 characters of the process's standard error."""
        try:
            return Path(self.folder, SAID).read_text(errors="replace")[-2000:]
        except OSError:
            return ""

    def remove(self) -> None:
        """Release the lock and remove the folder."""
        self.lock.release()
        shutil.rmtree(self.folder, ignore_errors=True)


def make_locked_temp_dir() -> LockedTempDir:
    """Make and lock a temporary folder, and remove the folders of killed runs."""
    for left in Path(tempfile.gettempdir()).glob(f"{HOME}*"):
        lock = FileLock(left / LOCK)
        with contextlib.suppress(Timeout, OSError), lock.acquire(timeout=0):
            shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=HOME)
    lock = FileLock(Path(folder, LOCK))
    lock.acquire()
    return LockedTempDir(folder, lock)


class ParentProcess:
    """The process of a pre-warmed parent that this process started.

    Attributes:
        home: its folder, which also holds its standard error.
        line: the channel for orders, usable when the process is ready.
        popen: the process itself.
    """

    def __init__(self, sandbox: str):
        """Start the process in a sandbox of the given kind, without waiting for it.

        Raises:
            NoParent: on a system without `os.fork`.
        """
        if not hasattr(os, "fork"):
            raise NoParent(NO_FORK)
        self._is_ready = False
        self.home = make_locked_temp_dir()
        ours, theirs = socket.socketpair()
        self.line = ControlChannel(ours, sandbox)
        with theirs, Path(self.home.folder, SAID).open("wb") as errors:
            self.popen = subprocess.Popen(
                _command(self.line, self.home, theirs.fileno()),
                env=_environment(self.line, self.home),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd="/",
            )

    def wait_until_ready(self) -> None:
        """Wait until the process has finished its imports and accepts orders.

        Raises:
            NoParent: if it ends first, or is not ready in time.
        """
        if self._is_ready:
            return
        try:
            self.line.wait_for_first_report()
        except NoParent:
            self._is_ready = True  # do not wait for it again
            raise
        self._is_ready = True

    def end(self) -> None:
        """Wait for the process to end; call this after its channel was closed.

        A process that is still starting ends once it has started, and this method does
        not wait for it. Killing bubblewrap while it builds the sandbox would leave a
        process running.
        """
        if self._is_ready:
            _end(self.popen, END_SECONDS)
        else:
            ending = (self.popen, START_SECONDS)
            threading.Thread(target=_end, args=ending, daemon=True).start()


def _command(line: ControlChannel, home: LockedTempDir, descriptor: int) -> list[str]:
    python = [sys.executable, "-I"]
    if not line.is_protected:
        return [*python, str(CHILD / "__main__.py"), str(descriptor)]
    settings = [
        part
        for name, value in _environment(line, home).items()
        for part in ("--setenv", name, value)
    ]
    here = [*sandbox_command(line.sandbox), *settings]
    return [*here, *python, "/grader/__main__.py", str(descriptor)]


def _environment(line: ControlChannel, home: LockedTempDir) -> dict[str, str]:
    folder = SCRATCH if line.is_protected else home.folder
    return {
        "HOME": folder,
        "IPYTHONDIR": os.path.join(folder, ".ipython"),
        "MPLCONFIGDIR": os.path.join(folder, ".matplotlib"),
        "TMPDIR": folder,
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _end(process: subprocess.Popen, patience: float) -> None:
    """Wait `patience` seconds for a process to end by itself, then kill it."""
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
