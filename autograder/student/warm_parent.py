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
import warnings
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.child.frames import Channel, FrameLimits
from autograder.failure import StudentGone
from autograder.kit_files import WarmKit
from autograder.student.limits import Limits
from autograder.student.sandbox import (
    CHILD,
    FOLDER,
    NO_SANDBOX,
    SCRATCH,
    sandbox_command,
    sandbox_kind,
)

SIZE = struct.Struct(">I")
START_SECONDS = 60
ORDER_SECONDS = 20
HOME, LOCK = "course-grader-", "in-use.lock"
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


class WarmParent:
    """One pre-warmed parent process, which forks one child at a time or several."""

    def __init__(self, sandbox: str | None = None):
        """Start it in the best sandbox there is, or in the one asked for.

        Raises:
            NoParent: If it does not come up.
        """
        self.sandbox = sandbox or sandbox_kind()
        if not self.is_protected:
            warnings.warn(NO_SANDBOX, Unprotected, stacklevel=2)
        self._last_key = 0
        self._start()

    def _start(self) -> None:
        """Start the process, with a folder of its own for what it says."""
        self.kit = ""
        self._home, self._lock = make_home()
        self._control, theirs = socket.socketpair()
        said = Path(self._home, "said.txt")
        with theirs, said.open("wb") as errors:
            self._process = subprocess.Popen(
                self._command(theirs.fileno()),
                env=self._environment(),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd="/",
            )
        self._control.settimeout(START_SECONDS)
        try:
            self._receive()
        except (OSError, NoParent) as error:
            words = said.read_text(errors="replace")[-2000:]
            self.close()
            raise NoParent(f"the child process did not start: {words}") from error

    def restart(self) -> None:
        """Start anew where the process was lost, or hangs.

        Raises:
            NoParent: If it does not come up.
        """
        self.close()
        self._start()

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
            NoParent: If the parent is gone or does not come up.
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

    def fork(self, limits: Limits, kit: str = "") -> Child:
        """Get a fresh child, for the files whose label is ``kit``.

        No other kit is in it.

        Raises:
            NoParent: If the parent is gone or cannot fork.
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

        A child that has closed its channel gets ``patience`` seconds to end by itself.
        """
        child.channel.close()
        order = {"do": "end", "key": child.key, "patience": patience}
        try:
            return self._order(order).get("status")
        finally:
            if child.folder is not None:
                shutil.rmtree(child.folder, ignore_errors=True)

    def close(self) -> None:
        """End the parent and every child."""
        self._control.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._lock.release()
        shutil.rmtree(self._home, ignore_errors=True)

    def _order(
        self, order: dict[str, Any], descriptors: list[int] | None = None
    ) -> dict[str, Any]:
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
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return StudentGone(f"its process was ended by signal {number}", "signal")
    code = os.waitstatus_to_exitcode(status)
    return StudentGone(f"its process ended by itself (exit code {code})", "exit")
