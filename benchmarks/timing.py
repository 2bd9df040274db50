"""Time functions in alternation, and commands with their memory.

With alternation, other work on the machine slows all functions equally.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch


@dataclass(frozen=True)
class Ratio:
    """Compare our seconds with a reference's seconds, from paired rounds.

    Attributes:
        ours: our median seconds.
        theirs: the reference's median seconds.
        low: lower quartile of theirs / ours.
        middle: median of theirs / ours, which is how many times as fast we are.
        high: upper quartile of theirs / ours.
    """

    ours: float
    theirs: float
    low: float
    middle: float
    high: float

    def rounded(self) -> dict[str, float]:
        """Return the figures, rounded to four significant digits."""
        return {name: float(f"{value:.4g}") for name, value in vars(self).items()}


def alternate(
    ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, warm_up: int = 1
) -> Ratio:
    """Time two functions in alternation; each round gives one ratio."""
    pairs = []
    for number in range(warm_up + rounds):
        pair = [seconds(run) for run in (ours, theirs)]
        if number >= warm_up:
            pairs.append(pair)
    return compare(pairs)


def compare(pairs: Sequence[Sequence[float]]) -> Ratio:
    """Compare pairs of seconds (ours, theirs)."""
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = [peer / own for own, peer in pairs]
    if len(ratios) == 1:
        ratios *= 2
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Ratio(ours, theirs, low, middle, high)


def seconds(run: Callable[[], Any]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def machine(threads: int) -> dict[str, Any]:
    """Return facts about the machine and the software of the measurements."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "load_before": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


class Took(NamedTuple):
    """The seconds that a command took, and the peak memory of its own process."""

    seconds: float
    megabytes: float


def timed(command: list[str], root: Path) -> Took:
    """Run a command in a folder; return its time and memory.

    Raises:
        SystemExit: with the command's output, if the command fails.
    """
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs}  # nbgrader calls alembic
    start, most = time.perf_counter(), 0.0
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(
            command, cwd=root, env=environment, stdout=said, stderr=said
        )
        while running.poll() is None:
            most = max(most, peak_megabytes(running.pid))
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        if running.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)}:\n{said.read()[-4000:]}")
    return Took(seconds, most)


def peak_megabytes(pid: int) -> float:
    """Return the peak resident memory of a process, or 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = text.partition("VmHWM:")[2].split()
    return int(found[0]) / 1024 if found else 0.0


class MemoryWatch(threading.Thread):
    """Record the largest private memory of any descendant of a process."""

    def __init__(self, parent: int):
        """Store the process whose descendants are watched; it is not watched itself."""
        super().__init__(daemon=True)
        self.parent, self.most_bytes, self.is_over = parent, 0, False

    def run(self) -> None:
        """Measure repeatedly until `is_over` is set."""
        while not self.is_over:
            for pid in descendants(self.parent):
                self.most_bytes = max(self.most_bytes, private_bytes(pid))
            time.sleep(0.005)


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, directly or indirectly."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    children = [int(child) for child in text.split()]
    return children + [below for child in children for below in descendants(child)]


def private_bytes(pid: int) -> int:
    """Return the memory that a process does not share with other processes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    private = [line.split() for line in lines if line.startswith("Private_")]
    return sum(int(words[1]) * 1024 for words in private)
