"""Stop all processes that `torchrun` has started, and print only one message."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import typer
from torch import distributed

from transformer.training.distributed import Processes

GRACE = 5.0  # seconds; torchrun kills processes only after 30


def may_speak() -> bool:
    """Return whether this process is the first to report why the run ends.

    The processes share a counter on torchrun's agent, because the agent outlives them.
    """
    if not distributed.is_torchelastic_launched():
        return True
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    try:
        wait = timedelta(seconds=GRACE)
        store = distributed.TCPStore(host, port, is_master=False, timeout=wait)
        return store.add("transformer: why the run ends", 1) == 1
    except RuntimeError:  # the agent has ended
        return True


@contextmanager
def ending_together(
    processes: Processes, last_words: Callable[[], None]
) -> Iterator[None]:
    """Print a message and exit if the run is stopped or another process has ended.

    Args:
        processes: the processes of the run, which torchrun stops together if one fails.
        last_words: a function that prints which checkpoints are kept.

    Raises:
        typer.Exit: with code 130, after the message.
    """
    try:
        with _hearing_torchrun(processes, last_words):
            yield
    except (KeyboardInterrupt, RuntimeError) as error:
        lost = isinstance(error, distributed.DistError) or "gloo" in str(error)
        if not isinstance(error, KeyboardInterrupt) and not lost:
            raise
        last_words()
        raise typer.Exit(130) from None


@contextmanager
def _hearing_torchrun(
    processes: Processes, last_words: Callable[[], None]
) -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, and end this process after at most `GRACE` seconds.

    Python handles no signal while it waits for another process that has already ended.
    A thread therefore watches for signals.
    """
    if processes.count == 1:
        yield
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    arguments = (heard, last_words)
    threading.Thread(target=_end_if_stuck, args=arguments, daemon=True).start()
    _answer_signals(signal.default_int_handler)
    try:
        yield
    finally:
        _answer_signals(signal.SIG_IGN)  # the process is about to end
        signal.set_wakeup_fd(-1)


def _answer_signals(handler: signal.Handlers | Callable) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _end_if_stuck(heard: int, last_words: Callable[[], None]) -> None:
    os.read(heard, 1)  # blocks until a signal arrives
    time.sleep(GRACE)
    last_words()
    os._exit(130)
