"""Start what grading must wait for while the rest is still being imported.

Nothing here imports torch or nbgrader: it is done before they are.
"""

import contextlib
import multiprocessing
import os
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from pathlib import Path

from autograder.student import own_parent

WORKERS = "autograder.workers"


def processes() -> BaseContext:
    """Return a way to start processes that copies no thread and imports torch once."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([WORKERS])
    return context


def prepare(number: int) -> None:
    """Begin what ``number`` workers need, and do not wait.

    That is the pre-warmed parent and, if there are several, the process that they are
    forked from. What does not start here is started, and said, when it is needed.
    """
    with contextlib.suppress(OSError):
        own_parent.begin()
    if number > 1 and processes().get_start_method() == "forkserver":
        forkserver.ensure_running()


def prepare_for(root: Path, workers: int | None) -> None:
    """Begin what the class in ``root`` will probably need.

    Its settings are not read yet: they may have the submissions in another folder.
    """
    handed_in = sum(path.is_dir() for path in root.glob("submitted/*/*"))
    if handed_in:
        prepare(min(workers or os.cpu_count() or 1, handed_in))
