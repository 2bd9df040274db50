"""Measure the speed of the layers in Table 1 of Vaswani et al. (2017)."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.utils.benchmark import Timer
from torch.utils.benchmark.utils.timer import timer as wall_clock

from transformer.experiments.layer_kinds import make_layer


@dataclass(frozen=True)
class TimingSettings:
    """Hold the sizes of the layers to time, and the duration of each measurement.

    Attributes:
        d_model: width d of a layer.
        width: kernel size k of a convolution, neighbourhood r of restricted attention.
        batch_size: sequences in a batch.
        min_seconds: minimum time for which a layer is run repeatedly.
        device: device of the layers.
    """

    d_model: int = 64
    width: int = 3
    batch_size: int = 128
    min_seconds: float = 0.1
    device: str = "cpu"


@dataclass(frozen=True)
class Measurement:
    """Hold the measured time of one layer.

    Attributes:
        kind: one of `LAYER_KINDS`.
        length: tokens n in a sequence.
        seconds: median time of a forward pass over the batch, on one thread. It
            excludes the time of other programs if the clock allows it.
    """

    kind: str
    length: int
    seconds: float


@torch.no_grad()
def measure_layers(
    kinds: Sequence[str],
    lengths: Sequence[int],
    settings: TimingSettings | None = None,
) -> list[Measurement]:
    """Time a forward pass of one layer of each kind, at each length, on one thread.

    Args:
        kinds: some of `LAYER_KINDS`.
        lengths: tokens n in a sequence.
        settings: the settings, or None for the defaults.

    Returns:
        A row for each length and kind, ordered by length.

    Raises:
        ValueError: if a kind is unknown, or the width is not valid for it.
    """
    settings = settings or TimingSettings()
    clock = _clock_of(settings.device)
    rows = []
    for length in lengths:
        shape = (settings.batch_size, length, settings.d_model)
        x = torch.randn(shape, device=settings.device)
        for kind in kinds:
            layer = make_layer(kind, settings.d_model, settings.width)
            layer = layer.to(settings.device).eval()
            names = {"layer": layer, "x": x}
            timer = Timer("layer(x)", timer=clock, globals=names, num_threads=1)
            taken = timer.blocked_autorange(min_run_time=settings.min_seconds)
            rows.append(Measurement(kind, length, taken.median))
    return rows


def _clock_of(device: str) -> Callable[[], float]:
    """Return the thread's CPU clock, or wall-clock time if that cannot be used."""
    fine = time.get_clock_info("thread_time").resolution < 1e-6
    return time.thread_time if device == "cpu" and fine else wall_clock


def crossing_length(
    rows: Sequence[Measurement], first: str, second: str
) -> float | None:
    """Find the sequence length at which one kind of layer becomes slower than another.

    Args:
        rows: measurements of both kinds at the same lengths.
        first: the kind of layer that is faster on short sequences.
        second: the kind of layer that is faster on long sequences.

    Returns:
        The length at which both take the same time, or None if there is no such length.
            It is interpolated on logarithmic scales between the last length at which
            `first` was faster and the next length.
    """
    times = {
        kind: {row.length: row.seconds for row in rows if row.kind == kind}
        for kind in (first, second)
    }
    lengths = sorted(times[first].keys() & times[second].keys())
    gaps = [math.log(times[first][n] / times[second][n]) for n in lengths]
    faster = [place for place, gap in enumerate(gaps) if gap < 0]
    if not faster or faster[-1] + 1 == len(lengths):
        return None
    last = faster[-1]
    share = gaps[last] / (gaps[last] - gaps[last + 1])
    return lengths[last] * (lengths[last + 1] / lengths[last]) ** share
