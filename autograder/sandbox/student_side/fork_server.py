"""Run the pre-warmed parent, which imports torch once and forks children.

The parent runs no torch operation itself, because a process that has run a
multi-threaded operation hangs when it is forked.
"""

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from . import kit
from .cells import CellRunner
from .child import run_child
from .memory import TOO_MUCH_MEMORY, Child, held_by
from .messages import Channel, ChannelClosed, Message
from .namespaces import (
    become_account,
    become_subreaper,
    can_fork_apart,
    fork_apart,
)
from .submission_server import before_forks, lift_limits

REAP_SECONDS, WATCH_SECONDS = 5.0, 0.1
WARM = [
    *("matplotlib.pyplot", "numpy.random", "torch.nn.functional"),
    *("torch.utils._device", "torch.fx.experimental.symbolic_shapes"),
    "torch._dynamo",  # the device "meta" needs it; the import takes a second
]


def warm_up() -> CellRunner:
    """Import the modules that submissions use, and make the children's shell."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    os.environ["MPLBACKEND"] = "agg"
    runner = CellRunner()
    import_quietly(WARM)
    return runner


def import_quietly(modules: list[str]) -> None:
    """Import the modules that exist, and exclude them from garbage collection."""
    gc.disable()
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # a child that needs the module will report it
            continue
    before_forks()
    gc.collect()
    gc.freeze()
    gc.enable()


class ForkServer:
    """Fork and end children on the grader's orders."""

    def __init__(self, control: socket.socket, runner: CellRunner):
        """Take orders from `control`; children inherit `runner`'s shell."""
        self.channel = Channel(control, takes_descriptors=True)
        self.runner = runner
        self.children: dict[int, Child] = {}
        self.over_memory: set[int] = set()
        self.copies: list[int] = []

    def run(self) -> None:
        """Carry out orders until the grader closes the channel."""
        self._report({"ready": os.getpid()})
        while True:
            self._watch_until_ordered()
            try:
                message = self.channel.receive()
            except ChannelClosed:
                break
            order = message.body
            if order["do"] == "fork":
                self._fork(order, message.descriptors[0])
            elif order["do"] == "forked":
                if child := self.children.get(order["key"]):
                    child.forks = order["forks"]
                self._report({})
            elif order["do"] == "copy":
                self._copy(message.descriptors[0])
            elif order["do"] == "import":
                import_quietly(order["modules"])
                if "files" in order:
                    kit.write(kit.FOLDER, order["files"], message.blob)
                    with kit.importable():
                        import_quietly(order["own"])
                self._report({})
            else:
                self._end(order["key"], order["patience"])
        for key in list(self.children):
            self._kill(key)

    def _watch_until_ordered(self) -> None:
        """Wait for an order, and kill any child whose processes use too much memory."""
        while self.children and not self._is_ordered_within(WATCH_SECONDS):
            shared, together = held_by("self"), 0
            for key, child in list(self.children.items()):  # all of the same submission
                held = child.held(shared)
                if together + held > child.total_bytes:
                    self._kill(key)
                    self.over_memory.add(key)
                else:
                    together += held

    def _is_ordered_within(self, seconds: float) -> bool:
        waits = seconds if sys.platform == "linux" else None  # others cannot watch
        return bool(select.select([self.channel.connection], [], [], waits)[0])

    def _fork(self, order: dict[str, Any], descriptor: int) -> None:
        """Fork a child that serves on `descriptor`, and report success or failure."""
        read_end, write_end = os.pipe()
        order["apart"] = order["isolate"] == "root" and can_fork_apart()
        with fork_apart() if order["apart"] else contextlib.nullcontext():
            middle = os.fork()
            if middle == 0:
                os.close(read_end)
                self.channel.close()
                run_child(order, descriptor, write_end, self.runner)
        os.close(descriptor)
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            lines = dict(line.rstrip().split("=", 1) for line in pipe)
        problem = lines.get("problem")
        inner = int(lines.get("pid", middle))
        if inner != middle:
            os.waitpid(middle, 0)
        self.children[order["key"]] = Child(
            inner,
            order["total_bytes"],
            has_own_network=order["isolate"] in ("root", "user"),
            account=order["user"] if order["isolate"] == "account" else None,
        )
        if problem:
            self._kill(order["key"])
        self._report({"problem": problem})

    def _copy(self, descriptor: int) -> None:
        """Fork a copy of this process that takes its orders from `descriptor`."""
        self.copies = [pid for pid in self.copies if _ended_within(pid, 0) is None]
        pid = os.fork()
        if pid:
            os.close(descriptor)
            self.copies.append(pid)
            self._report({})
            return
        self.channel.close()
        self.channel = Channel(socket.socket(fileno=descriptor), None, True)
        self.children, self.copies = {}, []
        self.over_memory = set()
        become_subreaper()  # a fork does not inherit this setting

    def _end(self, key: int, patience: float) -> None:
        child = self.children.get(key)
        waited = child.seconds_waited() if child else 0.0
        status = self._kill(key, patience)
        if key in self.over_memory:
            self.over_memory.remove(key)
            status = TOO_MUCH_MEMORY
        self._report({"status": status, "waited": waited})

    def _kill(self, key: int, patience: float = 0.0) -> int | None:
        """Kill a child and its processes.

        The child gets `patience` seconds to end by itself.

        Returns:
            The exit status if the child had ended before it was killed, otherwise None.
        """
        child = self.children.pop(key, None)
        if child is None:
            return None
        pid = child.pid
        status = _ended_within(pid, patience)
        if child.account is not None:
            _end_all_of(child.account)
        if status is not None:
            return status
        with contextlib.suppress(ProcessLookupError):  # it may lead no group,
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)  # or may have left the group that it leads
        _ended_within(pid, REAP_SECONDS)
        return None

    def _report(self, report: dict[str, Any]) -> None:
        self.channel.send(Message(report))


def _ended_within(pid: int, seconds: float) -> int | None:
    """Wait for a child to end and return its status, or None if it is still running."""
    until = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() >= until:
            return None
        time.sleep(0.002)


def _end_all_of(user: int) -> None:
    """Kill every process of an account; only the child's processes use this account."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):  # no process is left
            become_account(user)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(pid, 0)


def main() -> None:
    """Warm up and serve on the socket whose descriptor is the first argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    lift_limits()
    become_subreaper()
    ForkServer(control, warm_up()).run()
    os._exit(0)  # a normal exit would unload torch, which takes 0.4 s in every copy
