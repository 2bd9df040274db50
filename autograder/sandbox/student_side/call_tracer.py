"""Watch what a call runs: PyTorch's operators, and the functions of libraries.

Names alone are kept: `aten::bmm`, `torch.nn.functional:layer_norm`. An operator is seen
whatever called it: a disguise changes the spelling of a call, not what is computed.
"""

import _thread
import contextlib
import os
import subprocess  # noqa: F401  (which loads what starts a process)
import sys
import threading
from collections.abc import Iterator
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler import profile

ENDED = "watch:ended"  # the student's code has put an end to the watch
LEFT = "watch:left"  # it runs something where the watch sees nothing
THE_WATCH = {
    *(sys.getprofile, sys.setprofile),
    *(torch._C._autograd._disable_profiler, torch.autograd._enable_record_function),
}
STARTS = ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "fork_exec")
PROCESSES = {
    getattr(module, name)
    for module in (os, *(sys.modules.get(n) for n in ("_posixsubprocess", "_winapi")))
    for name in (*STARTS, "CreateProcess")
    if hasattr(module, name)
}
THREADS = {
    getattr(_thread, name)
    for name in ("start_new_thread", "start_new", "start_joinable_thread")
    if hasattr(_thread, name)
}
PACKAGES = f"{os.sep}site-packages{os.sep}"
LAST = "aten::zeros"  # the operator that is run last, to see whether it is noted


@contextlib.contextmanager
def tracing(ran: set[str]) -> Iterator[None]:
    """Add to `ran` the name of everything that runs inside, in every thread."""
    with _operators(ran), _functions(ran):
        yield


@contextlib.contextmanager
def _operators(ran: set[str]) -> Iterator[None]:
    """Add to `ran` the operators that PyTorch runs inside."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would report itself on stderr
    operators = profile(experimental_config=_all_threads())
    try:
        with operators:
            try:
                yield
            finally:
                torch.zeros(0)
    finally:
        results = operators.kineto_results  # as they are: to sort them takes longer
        names = {str(event.name()) for event in results.events()} if results else set()
        ran.update(names if LAST in names else {*names, ENDED})


@contextlib.contextmanager
def _functions(ran: set[str]) -> Iterator[None]:
    """Add to `ran` the functions written in Python that are called inside."""
    called: set[tuple[Any, str, str]] = set()
    get_profile, set_profile = partial(sys.getprofile), partial(sys.setprofile)

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event == "call":
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)  # from Python 3.11 on
            called.add((frame.f_globals.get("__name__"), code.co_filename, name))
        elif event == "c_call":
            if function in THE_WATCH:  # not ours: see above
                ran.add(ENDED)
            elif function in PROCESSES or (
                function in THREADS and frame.f_globals is not vars(threading)
            ):
                ran.add(LEFT)

    before = get_profile()
    threading.setprofile(note)
    set_profile(note)
    try:
        yield
    finally:
        if get_profile() is not note:
            ran.add(ENDED)
        set_profile(before if callable(before) else None)
        threading.setprofile(None)
        for module, path, name in called:
            ran.add(f"{module}:{name}")
            package = _package_of(path)  # a module can call itself by another name
            if package and package != str(module).partition(".")[0]:
                ran.add(f"{package}:{name}")


def _package_of(path: str) -> str:
    """Return the installed package that a file of code belongs to, or nothing."""
    inside = path.rpartition(PACKAGES)[2] if PACKAGES in path else ""
    return inside.partition(os.sep)[0].removesuffix(".py")


def _all_threads() -> _ExperimentalConfig:
    try:
        return _ExperimentalConfig(profile_all_threads=True)
    except TypeError:  # an older PyTorch, which notes its own thread alone
        return _ExperimentalConfig()
