"""Start the pre-warmed parent, and get forked children from it."""

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import warnings
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.checking.failures import StudentGone
from autograder.sandbox.bubblewrap import (
    CHILD,
    FOLDER,
    NO_SANDBOX,
    SCRATCH,
    sandbox_command,
    sandbox_kind,
)
from autograder.sandbox.kit import WarmKit
from autograder.sandbox.limits import Limits
from autograder.sandbox.student_side.memory import TOO_MUCH_MEMORY
from autograder.sandbox.student_side.messages import Channel, FrameLimits

SIZE = struct.Struct(">I")
START_SECONDS = 60
ORDER_SECONDS = 20
END_SECONDS = 5
HOME, LOCK, SAID = "course-grader-", "in-use.lock", "said.txt"
FIRST_USER, USERS = 61184, 4096  # nobody's numbers: systemd's range for such a use


class NoParent(Exception):
    """Report that the pre-warmed parent did not start or is gone."""


class Unprotected(UserWarning):
    """Warn that submissions run without a sandbox."""


@dataclass
class Child:
    """A forked child: its channel, its number, its folder outside a sandbox."""

    channel: Channel
    key: int
    folder: str | None


@dataclass
class Line:
    """The line to a copy of a parent; it can be handed to another process.

    Attributes:
        control: takes the orders; who holds it holds the copy.
        sandbox: the kind of sandbox that the copy lives in.
        kit: the label of the kit that is imported in it.
    """

    control: socket.socket
    sandbox: str
    kit: str


class WarmParent:
    """One pre-warmed parent process, which forks one child at a time or several."""

    _process: subprocess.Popen | None = None  # a copy's is not ours to wait for
    _last_key = 0

    def __init__(self, sandbox: str | None = None, wait: bool = True):
        """Start it in the best sandbox there is, or in the one asked for.

        Without `wait` it may still be starting; the first order waits for it.

        Raises:
            NoParent: if it does not come up.
        """
        self.sandbox = sandbox or sandbox_kind()
        if not self.is_protected:
            warnings.warn(NO_SANDBOX, Unprotected, stacklevel=2)
        self._launch()
        if wait:
            self.wait_until_ready()

    @classmethod
    def at(cls, line: Line) -> "WarmParent":
        """Return the copy at the end of `line`."""
        parent = cls.__new__(cls)
        parent.sandbox, parent.kit = line.sandbox, line.kit
        parent._control, parent._is_ready = line.control, True
        parent._home, parent._lock = make_home()
        return parent

    def _launch(self) -> None:
        """Start the process, with a folder of its own for what it says."""
        self.kit, self._is_ready = "", False
        self._home, self._lock = make_home()
        self._control, theirs = socket.socketpair()
        with theirs, Path(self._home, SAID).open("wb") as errors:
            self._process = subprocess.Popen(
                self._command(theirs.fileno()),
                env=self._environment(),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd="/",
            )

    def wait_until_ready(self) -> None:
        """Wait until it has imported what it imports before it takes orders.

        Raises:
            NoParent: if it does not come up.
        """
        if self._is_ready:
            return
        self._control.settimeout(START_SECONDS)
        try:
            self._receive()
        except (OSError, NoParent) as error:
            words, self._is_ready = self._said(), True  # as ready as it will ever be
            self.close()
            raise NoParent(f"the child process did not start: {words}") from error
        self._is_ready = True

    def _said(self) -> str:
        """Return the end of what the process has written on its standard error."""
        try:
            return Path(self._home, SAID).read_text(errors="replace")[-2000:]
        except OSError:
            return ""

    def restart(self) -> None:
        """Start anew where the process was lost, or hangs.

        Raises:
            NoParent: if it does not come up.
        """
        self.close()
        self._launch()
        self.wait_until_ready()

    @property
    def is_protected(self) -> bool:
        """Say whether there is a sandbox."""
        return self.sandbox != "none"

    def _command(self, descriptor: int) -> list[str]:
        python = [sys.executable, "-I"]
        if not self.is_protected:
            return [*python, str(CHILD / "__main__.py"), str(descriptor)]
        settings = [
            part
            for name, value in self._environment().items()
            for part in ("--setenv", name, value)
        ]
        here = [*sandbox_command(self.sandbox), *settings]
        return [*here, *python, "/grader/__main__.py", str(descriptor)]

    def _environment(self) -> dict[str, str]:
        home = SCRATCH if self.is_protected else self._home
        return {
            "HOME": home,
            "IPYTHONDIR": os.path.join(home, ".ipython"),
            "MPLCONFIGDIR": os.path.join(home, ".matplotlib"),
            "TMPDIR": home,
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def warm(self, kit: WarmKit) -> None:
        """Import a kit, and what it needs, once for all children that get its files.

        Without a sandbox each child has a folder of its own, and the kit's own modules
        are left to it. A parent that holds another kit is started anew: a later unit's
        kit is an earlier one's answers, and what was imported once can be found.

        Raises:
            NoParent: if the parent is gone or does not come up.
        """
        self._hold_no_other(kit.label)
        order: dict[str, Any] = {"do": "import", "modules": kit.foreign}
        if self.is_protected:
            files = {k: b64encode(v).decode() for k, v in kit.files.items()}
            order |= {"kit": {"files": files, "modules": kit.own}}
        self._order(order)
        self.kit = kit.label

    def _hold_no_other(self, kit: str) -> None:
        if self.kit not in ("", kit):
            self.restart()

    def copy(self) -> Line:
        """Have a copy of the parent forked, in the same sandbox; return the line to it.

        The copy has imported what the parent has, and shares the memory of it. It ends
        when its line is closed.

        Raises:
            NoParent: if the parent is gone or cannot fork.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._order({"do": "copy"}, [theirs.fileno()])
        except NoParent:
            ours.close()
            raise
        return Line(ours, self.sandbox, self.kit)

    def fork(self, limits: Limits, kit: str = "") -> Child:
        """Get a fresh child, for the files whose label is `kit`.

        No other kit is in it.

        Raises:
            NoParent: if the parent is gone or cannot fork.
        """
        self._hold_no_other(kit)
        self._last_key += 1
        folder = None if self.is_protected else tempfile.mkdtemp(dir=self._home)
        ours, theirs = socket.socketpair()
        order = {
            "do": "fork",
            "key": self._last_key,
            "isolate": self.sandbox,
            "user": FIRST_USER + (os.getpid() + self._last_key) % USERS,
            "folder": folder or FOLDER,
            "folder_bytes": limits.folder_bytes,
            "limits": limits.resource_limits(),
            "total_bytes": limits.total_bytes,
            "device": limits.device,
        }
        with theirs:
            report = self._order(order, [theirs.fileno()])
        if report.get("problem"):
            ours.close()
            raise NoParent(f"no child could be made: {report['problem']}")
        frames = FrameLimits(blob_bytes=limits.reply_bytes)
        return Child(Channel(ours, frames), self._last_key, folder)

    def end(self, child: Child, patience: float = 0.0) -> int | None:
        """Kill a child with all that it started; return how it had ended before.

        A child that has closed its channel gets `patience` seconds to end by itself.
        """
        child.channel.close()
        order = {"do": "end", "key": child.key, "patience": patience}
        try:
            return self._order(order).get("status")
        finally:
            if child.folder is not None:
                shutil.rmtree(child.folder, ignore_errors=True)

    def close(self) -> None:
        """End the parent, every child and, in a sandbox, every copy.

        One that is still starting ends when it has started, and nobody waits for it:
        bubblewrap, killed while it makes the sandbox, leaves a process behind.
        """
        self._control.close()
        if self._process is not None and self._is_ready:
            end_process(self._process, END_SECONDS)
        elif self._process is not None:
            ending = (self._process, START_SECONDS)
            threading.Thread(target=end_process, args=ending, daemon=True).start()
        self._lock.release()
        shutil.rmtree(self._home, ignore_errors=True)

    def _order(
        self, order: dict[str, Any], descriptors: list[int] | None = None
    ) -> dict[str, Any]:
        self.wait_until_ready()
        text = json.dumps(order).encode()
        try:
            self._control.settimeout(self._patience(order))
            head = [SIZE.pack(len(text))]
            socket.send_fds(self._control, head, descriptors or [])
            self._control.sendall(text)
            return self._receive()
        except OSError as error:
            raise NoParent(f"the pre-warmed parent is gone: {error}") from error

    @staticmethod
    def _patience(order: dict[str, Any]) -> float:
        """Return how long an order may take: imports of whole libraries are slow."""
        return START_SECONDS if order["do"] == "import" else ORDER_SECONDS

    def _receive(self) -> dict[str, Any]:
        (size,) = SIZE.unpack(self._exactly(SIZE.size))
        return json.loads(self._exactly(size))

    def _exactly(self, size: int) -> bytes:
        text = b""
        while len(text) < size:
            part = self._control.recv(size - len(text))
            if not part:
                raise NoParent("the pre-warmed parent closed its channel")
            text += part
        return text


def end_process(process: subprocess.Popen, patience: float) -> None:
    """Wait so many seconds for a process to end by itself, and kill it otherwise."""
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def make_home() -> tuple[str, FileLock]:
    """Make a temporary folder and lock it; remove those that killed runs have left."""
    for left in Path(tempfile.gettempdir()).glob(f"{HOME}*"):
        lock = FileLock(left / LOCK)
        with contextlib.suppress(Timeout, OSError), lock.acquire(timeout=0):
            shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=HOME)
    lock = FileLock(Path(folder, LOCK))
    lock.acquire()
    return folder, lock


def how_it_ended(status: int | None) -> StudentGone:
    """Put the end of a child process into words."""
    if status is None:
        return StudentGone("its process closed the connection", "closed")
    if status == TOO_MUCH_MEMORY:
        return StudentGone("its processes took too much memory together", "memory")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return StudentGone(f"its process was ended by signal {number}", "signal")
    code = os.waitstatus_to_exitcode(status)
    return StudentGone(f"its process ended by itself (exit code {code})", "exit")
