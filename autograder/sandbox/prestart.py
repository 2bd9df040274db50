"""Start this process's only pre-warmed parent while the other imports still run.

This module imports neither torch nor nbgrader, because these imports are slow, and the
parent should start before them.
"""

import atexit
import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.sandbox.control_channel import ControlChannel, NoParent
from autograder.sandbox.fork_server_client import ForkServerClient, start_parent

if TYPE_CHECKING:  # Windows has no ForkServerContext
    from multiprocessing.context import ForkServerContext, SpawnContext

HELPERS = [
    "autograder.quick_start",
    "autograder.classroom.workers",
    "autograder.classroom.writer",
]
_held: list[ForkServerClient] = []


def begin(sandbox: str | None = None) -> None:
    """Begin to start this process's pre-warmed parent, and do not wait for it.

    The parent runs in the given kind of sandbox, by default the best one available.
    """
    if not _held:
        _held.append(start_parent(sandbox, wait=False))


def own_parent() -> ForkServerClient:
    """Return this process's pre-warmed parent, which ends when this process ends.

    Raises:
        NoParent: if it does not start; the next call tries again.
    """
    begin()
    try:
        _held[0].wait_until_ready()
    except NoParent:
        end()
        raise
    return _held[0]


def take_over(line: ControlChannel) -> None:
    """Use the parent's copy that is connected to `line` as this process's parent."""
    end()
    _held.append(ForkServerClient(line))


def end() -> None:
    """End this process's parent, if there is one."""
    while _held:
        _held.pop().close()


atexit.register(end)


def processes() -> "ForkServerContext | SpawnContext":
    """Return a start method that copies no threads and imports torch only once."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(HELPERS)
    return forking


def prepare() -> None:
    """Begin to start the processes that workers need, and do not wait for them.

    These are the pre-warmed parent and the process from which workers are forked. If
    one does not start here, a later call starts it, or reports why it cannot.
    """
    with contextlib.suppress(OSError, NoParent):
        begin()
    if processes().get_start_method() == "forkserver":
        with _out_of_reach_of_ctrl_c():
            forkserver.ensure_running()


@contextlib.contextmanager
def _out_of_reach_of_ctrl_c() -> Iterator[None]:
    """Protect processes that start in this context from Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def prepare_for(root: Path) -> None:
    """Begin to start the processes if the class in `root` will probably need them.

    This is a guess, because the settings, which may name another folder for the
    submissions, are not read yet.
    """
    if any(path.is_dir() for path in root.glob("submitted/*/*")):
        prepare()
