"""Run the check of a notebook, and stop any part that does not end.

The check runs in another process. If a cell or an exercise takes too long, that process
is killed, and a new process leaves this part out.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from autograder.course import ROOT
from autograder.phrases import Phrase

START_SECONDS = 120  # to import PyTorch from a slow disk
PART_SECONDS = 30  # for one cell or one exercise, even on a busy machine
MOST_STOPS = 20


class NotRun(Exception):
    """Report to the learner why a notebook could not be checked."""


def check_notebook(unit: str, notebook: Path, language: str) -> dict[str, Any]:
    """Check a notebook, and return a dict with `report`, `passed` and `exercises`.

    Raises:
        NotRun: if the notebook could not be checked.
    """
    stopped: list[str] = []
    errors = [""]
    request = {"unit": unit, "notebook": str(notebook), "language": language}
    while len(stopped) < MOST_STOPS:
        place = ""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
            for message in _messages({**request, "stopped": stopped}, file):
                place = message.get("at", place)
                if "problem" in message:
                    raise NotRun(message["problem"])
                if "report" in message:
                    return message
            file.seek(0)
            errors += file.read().splitlines()
        if not place or place in stopped:
            break
        stopped.append(place)
    raise NotRun(Phrase("The check itself broke off: {error}", errors[-1]))


def _messages(request: dict[str, Any], errors: IO[str]) -> Iterator[dict[str, Any]]:
    """Yield the process's messages until it ends or sends none for too long."""
    with _process(errors) as process:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
            json.dump(request, pipe)
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        seconds = START_SECONDS
        while True:
            try:
                line = lines.get(timeout=seconds)
            except queue.Empty:
                return
            if not line:
                return
            yield json.loads(line)
            seconds = PART_SECONDS


@contextlib.contextmanager
def _process(errors: IO[str]) -> Iterator[subprocess.Popen[str]]:
    """Start the process with the course's own package, and end it afterwards."""
    paths = [str(ROOT), str(ROOT / "solutions"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONUTF8": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "COURSE_CHECK": "running",
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.self_study.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    """Put the lines of the process into the queue, and "" when it ends."""
    assert process.stdout is not None
    with process.stdout as pipe:
        for line in pipe:
            lines.put(line)
    lines.put("")
