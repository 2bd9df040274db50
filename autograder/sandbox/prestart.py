"""This process's one pre-warmed parent, started while the rest is still imported.

Nothing here imports torch or nbgrader: what grading must wait for is begun before they
are.
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
    """Begin to start this process's pre-warmed parent, and do not wait.

    It is in the best sandbox there is, or in the one asked for.
    """
    if not _held:
        _held.append(start_parent(sandbox, wait=False))


def own_parent() -> ForkServerClient:
    """Return this process's pre-warmed parent; it ends with the process.

    Raises:
        NoParent: if it does not come up; the next call tries again.
    """
    begin()
    try:
        _held[0].wait_until_ready()
    except NoParent:
        end()
        raise
    return _held[0]


def take_over(line: ControlChannel) -> None:
    """Let the copy at the end of `line` be this process's parent."""
    end()
    _held.append(ForkServerClient(line))


def end() -> None:
    """End this process's parent, if there is one."""
    while _held:
        _held.pop().close()


atexit.register(end)


def processes() -> "ForkServerContext | SpawnContext":
    """Return a way to start processes that copies no thread and imports torch once."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(HELPERS)
    return forking


def prepare() -> None:
    """Begin what workers need, and do not wait.

    That is the pre-warmed parent and the process that they are forked from. What does
    not start here is started, and said, when it is needed.
    """
    with contextlib.suppress(OSError, NoParent):
        begin()
    if processes().get_start_method() == "forkserver":
        with _out_of_reach_of_ctrl_c():
            forkserver.ensure_running()


@contextlib.contextmanager
def _out_of_reach_of_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: they end with this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def prepare_for(root: Path) -> None:
    """Begin what the class in `root` will probably need.

    Its settings are not read yet: they may have the submissions in another folder.
    """
    if any(path.is_dir() for path in root.glob("submitted/*/*")):
        prepare()
