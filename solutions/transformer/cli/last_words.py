"""How processes that `torchrun` has started end: all of them, with one sentence."""

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

GRACE = 5.0  # seconds; torchrun waits 30 before it kills


def may_speak() -> bool:
    """Return whether no other process has said yet why the run ends.

    The processes ask torchrun's agent, which outlives them; the first one may.
    """
    if not distributed.is_torchelastic_launched():
        return True
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    try:
        wait = timedelta(seconds=GRACE)
        store = distributed.TCPStore(host, port, is_master=False, timeout=wait)
        return store.add("transformer: why the run ends", 1) == 1
    except RuntimeError:  # nobody is left to ask
        return True


@contextmanager
def ending_together(
    processes: Processes, last_words: Callable[[], None]
) -> Iterator[None]:
    """End with the last words if this run is stopped, or another process has ended.

    Args:
        processes: of which torchrun stops all where one has failed.
        last_words: says what is kept.

    Raises:
        typer.Exit: with code 130, after the last words.
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
    """Let SIGTERM do what Ctrl-C does, or else end this process in `GRACE` seconds.

    Python hears no signal while it waits for a process that is gone: a thread does.
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
        _answer_signals(signal.SIG_IGN)  # it is about to end
        signal.set_wakeup_fd(-1)


def _answer_signals(handler: signal.Handlers | Callable) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _end_if_stuck(heard: int, last_words: Callable[[], None]) -> None:
    os.read(heard, 1)  # returns when a signal has come
    time.sleep(GRACE)
    last_words()
    os._exit(130)
