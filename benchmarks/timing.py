"""Time functions in turn, so that what else the machine does hits all of them."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
