"""Time functions in turn, so that what else the machine does hits all of them.

And whole commands, with the memory that they take.
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
    """Seconds of ours and of a peer's, and how they compare, from paired rounds.

    Attributes:
        ours: median seconds.
        theirs: median seconds.
        low: lower quartile of theirs / ours.
        middle: median of theirs / ours: how many times as fast we are.
        high: upper quartile.
    """

    ours: float
    theirs: float
    low: float
    middle: float
    high: float

    def rounded(self) -> dict[str, float]:
        """Return the figures, rounded for a file."""
        return {name: float(f"{value:.4g}") for name, value in vars(self).items()}


def alternate(
    ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, warm_up: int = 1
) -> Ratio:
    """Time two functions in turn; each pair of neighbours gives one ratio."""
    pairs = []
    for number in range(warm_up + rounds):
        pair = [seconds(run) for run in (ours, theirs)]
        if number >= warm_up:
            pairs.append(pair)
    return compare(pairs)


def compare(pairs: Sequence[Sequence[float]]) -> Ratio:
    """Compare pairs (ours, theirs) of seconds."""
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
    """Describe what the figures hold for."""
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
    """What a command took: its seconds, and the most memory of its own process."""

    seconds: float
    megabytes: float


def timed(command: list[str], root: Path) -> Took:
    """Run a command in a folder; return what it took.

    Raises:
        SystemExit: with what it said, if it fails.
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
    """Return the most memory that a process has had resident; 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = text.partition("VmHWM:")[2].split()
    return int(found[0]) / 1024 if found else 0.0


class MemoryWatch(threading.Thread):
    """Note the largest private memory that any of the parent's children has."""

    def __init__(self, parent: int):
        """Watch the descendants of process `parent`, not itself."""
        super().__init__(daemon=True)
        self.parent, self.most_bytes, self.is_over = parent, 0, False

    def run(self) -> None:
        """Look again and again until told that it is over."""
        while not self.is_over:
            for pid in descendants(self.parent):
                self.most_bytes = max(self.most_bytes, private_bytes(pid))
            time.sleep(0.005)


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    children = [int(child) for child in text.split()]
    return children + [below for child in children for below in descendants(child)]


def private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    private = [line.split() for line in lines if line.startswith("Private_")]
    return sum(int(words[1]) * 1024 for words in private)
