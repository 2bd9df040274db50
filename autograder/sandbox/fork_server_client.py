"""Control the pre-warmed parent from the grader: import a kit and fork children."""

import os
import shutil
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.checking.failures import StudentGone
from autograder.phrases import Phrase
from autograder.sandbox.bubblewrap import FOLDER, sandbox_kind
from autograder.sandbox.control_channel import ControlChannel, NoParent
from autograder.sandbox.kit import WarmKit
from autograder.sandbox.limits import Limits
from autograder.sandbox.parent_process import ParentProcess, make_locked_temp_dir
from autograder.sandbox.student_side.memory import OF_SIGNAL, TOO_MUCH_MEMORY
from autograder.sandbox.student_side.messages import Channel, FrameLimits
from autograder.sandbox.uid_leases import FIRST_IN_A_SANDBOX, USERS, UidLease


@dataclass
class Child:
    """A forked child: its channel, its process number, and its folder if not sandboxed.

    If the child has its own account, the account stays reserved until the child has
    ended. After that, `waited` is the time in seconds that the child spent waiting for
    a processor.
    """

    channel: Channel
    key: int
    folder: str | None
    account: UidLease | None = None
    waited: float = 0.0


class ForkServerClient:
    """One pre-warmed parent, which can have several children at a time."""

    def __init__(self, line: ControlChannel, process: ParentProcess | None = None):
        """Use the parent to which `line` is connected.

        Args:
            line: the channel for orders.
            process: the parent's process if this process started it, or None for a copy
                of a parent.
        """
        self._line = line
        self._process = process
        self._home = process.home if process is not None else make_locked_temp_dir()
        self._last_key = 0

    @property
    def sandbox(self) -> str:
        """Return the kind of sandbox: "root", "user", "account" or "none"."""
        return self._line.sandbox

    @property
    def kit(self) -> str:
        """Return the label of the imported kit, or an empty string without a kit."""
        return self._line.kit

    @property
    def is_protected(self) -> bool:
        """Return whether there is a sandbox around the parent itself."""
        return self._line.is_protected

    def wait_until_ready(self) -> None:
        """Wait until the parent has finished its imports and accepts orders.

        Raises:
            NoParent: if it does not start.
        """
        if self._process is None:
            return
        try:
            self._process.wait_until_ready()
        except NoParent as error:
            said = self._home.said()
            self.close()
            raise NoParent(
                Phrase("the child process did not start: {words}", said)
            ) from error

    def restart(self) -> None:
        """End the parent and start a new one, for example because the old one hangs.

        Raises:
            NoParent: if it does not start.
        """
        self.close()
        self._process = ParentProcess(self.sandbox)
        self._line, self._home = self._process.line, self._process.home
        self.wait_until_ready()

    def warm(self, kit: WarmKit) -> None:
        """Import a kit and its dependencies once for all children that use the kit.

        Without a sandbox, each child has its own folder and imports the kit's own
        modules itself. If the parent has imported another kit, restart it, because a
        later unit's kit contains the answers to earlier units, and a student's code
        could find the imported modules.

        Raises:
            NoParent: if the parent has ended or does not start.
        """
        self._hold_no_other(kit.label)
        order: dict[str, Any] = {"do": "import", "modules": kit.foreign}
        contents = bytearray()
        if self.is_protected:
            sizes = [[name, len(content)] for name, content in kit.files.items()]
            order |= {"files": sizes, "own": kit.own}
            contents = bytearray().join(kit.files.values())
        self._order(order, contents=contents)
        self._line.kit = kit.label

    def copy(self) -> ControlChannel:
        """Fork a copy of the parent in the same sandbox and return the channel to it.

        The copy shares the parent's imported modules and their memory. It ends when its
        channel is closed.

        Raises:
            NoParent: if the parent has ended or cannot fork.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._order({"do": "copy"}, [theirs.fileno()])
        except NoParent:
            ours.close()
            raise
        return ControlChannel(ours, self.sandbox, self.kit)

    def fork(self, limits: Limits, kit: str = "") -> Child:
        """Fork and return a new child for the kit with the label `kit`.

        If the parent has imported another kit, the parent is restarted first.

        Raises:
            NoParent: if the parent has ended or cannot fork.
        """
        self._hold_no_other(kit)
        self._last_key += 1
        folder = None if self.is_protected else self._folder_of_child()
        ours, theirs = socket.socketpair()
        account = self._account()
        with theirs:
            order = self._fork_order(limits, folder, account)
            report = self._order(order, [theirs.fileno()])
        if report.get("problem"):
            ours.close()
            raise NoParent(
                Phrase("no child could be made: {problem}", report["problem"])
            )
        frames = FrameLimits(blob_bytes=limits.reply_bytes)
        return Child(Channel(ours, frames), self._last_key, folder, account)

    def note_fork(self, child: Child, forks: bool = True) -> None:
        """Tell the parent whether a child forks itself and waits for these forks.

        Raises:
            NoParent: if the parent has ended.
        """
        self._order({"do": "forked", "key": child.key, "forks": forks})

    def end(self, child: Child, patience: float = 0.0) -> int | None:
        """Kill a child and its processes.

        A child that has closed its channel gets `patience` seconds to end by itself.

        Returns:
            The exit status if the child had ended before it was killed, otherwise None.
        """
        child.channel.close()
        order = {"do": "end", "key": child.key, "patience": patience}
        try:
            report = self._order(order)
            child.waited += report.get("waited", 0.0)
            return report.get("status")
        finally:
            if child.account is not None:
                child.account.release()
            if child.folder is not None:
                shutil.rmtree(child.folder, ignore_errors=True)

    def close(self) -> None:
        """End the parent, every child and, in a sandbox, every copy."""
        self._line.close()
        if self._process is not None:
            self._process.end()
        self._home.remove()

    def _hold_no_other(self, kit: str) -> None:
        if self.kit not in ("", kit):
            self.restart()

    def _folder_of_child(self) -> str:
        try:
            if self.sandbox == "account":  # children may enter but not list it
                os.chmod(self._home.folder, 0o711)
            return tempfile.mkdtemp(dir=self._home.folder)
        except FileNotFoundError as error:  # it was removed with the parent
            raise NoParent(Phrase("the pre-warmed parent is gone")) from error

    def _account(self) -> UidLease | None:
        if self.sandbox != "account":
            return None
        try:
            return UidLease(os.getpid() + self._last_key)
        except OSError as error:
            raise NoParent(
                Phrase("no account was free for a child process: {error}", error)
            ) from error

    def _fork_order(
        self, limits: Limits, folder: str | None, account: UidLease | None
    ) -> dict[str, Any]:
        some = FIRST_IN_A_SANDBOX + (os.getpid() + self._last_key) % USERS
        return {
            "do": "fork",
            "key": self._last_key,
            "isolate": self.sandbox,
            "user": account.user if account is not None else some,
            "folder": folder or FOLDER,
            "folder_bytes": limits.folder_bytes,
            "limits": limits.resource_limits(),
            "total_bytes": limits.total_bytes,
            "device": limits.device,
        }

    def _order(
        self,
        order: dict[str, Any],
        descriptors: Sequence[int] = (),
        contents: bytearray | None = None,
    ) -> dict[str, Any]:
        self.wait_until_ready()
        return self._line.order(order, descriptors, contents)


def start_parent(sandbox: str | None = None, wait: bool = True) -> ForkServerClient:
    """Start a parent in the given sandbox, by default the best one available.

    If `wait` is False, the parent may still be starting, and the first order waits for
    it.

    Raises:
        NoParent: if it does not start.
    """
    kind = sandbox or sandbox_kind()
    process = ParentProcess(kind)
    parent = ForkServerClient(process.line, process)
    if wait:
        parent.wait_until_ready()
    return parent


def how_it_ended(status: int | None) -> StudentGone:
    """Describe in words how a child process ended."""
    if status is None:
        return StudentGone(
            Phrase("its process closed the connection"), Phrase("closed")
        )
    if status == TOO_MUCH_MEMORY:
        return StudentGone(
            Phrase("its processes together used too much memory"), Phrase("memory")
        )
    code = os.waitstatus_to_exitcode(status)
    if code < 0 or code > OF_SIGNAL:
        number = -code if code < 0 else code - OF_SIGNAL
        return StudentGone(
            Phrase("its process was ended by signal {number}", number), Phrase("signal")
        )
    return StudentGone(
        Phrase("its process ended by itself (exit code {code})", code), Phrase("exit")
    )
