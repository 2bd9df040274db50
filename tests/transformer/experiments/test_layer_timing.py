"""The times of layers, and the lengths at which two kinds take the same time."""

import math

import pytest
import torch

from transformer.experiments.complexity import LAYER_KINDS, layer_cost
from transformer.experiments.layer_timing import (
    Measurement,
    TimingSettings,
    crossing_length,
    measure_layers,
)


def test_measuring_gives_a_row_each_and_leaves_the_threads_alone():
    threads = torch.get_num_threads()
    settings = TimingSettings(d_model=4, batch_size=2, min_seconds=1e-4)
    rows = measure_layers(LAYER_KINDS, [3, 5], settings)
    assert [(row.length, row.kind) for row in rows] == [
        (length, kind) for length in (3, 5) for kind in LAYER_KINDS
    ]
    assert all(0 < row.seconds < 1 for row in rows)
    assert torch.get_num_threads() == threads


def rows_of(seconds: dict[str, list[float]], lengths: list[int]) -> list[Measurement]:
    return [
        Measurement(kind, n, t)
        for kind, times in seconds.items()
        for n, t in zip(lengths, times, strict=True)
    ]


def test_predicted_times_cross_at_n_equal_to_d():
    lengths = [16, 50, 200, 400]
    times = {
        kind: [layer_cost(kind, n, 64) / 1e9 for n in lengths]
        for kind in ("self_attention", "recurrent")
    }
    crossing = crossing_length(rows_of(times, lengths), "self_attention", "recurrent")
    assert crossing == pytest.approx(64)


@pytest.mark.parametrize(
    ("attention", "expected"),
    [
        ([1, 1, 1], None),  # always faster
        ([3, 3, 3], None),  # never faster
        ([1, 2, 3], 20.0),  # equal at a measured length
        ([1, 1, 4], 800**0.5),  # half way between 20 and 40, in logarithms
        ([1, 3, 1], None),  # faster again at the end
        ([1, 3, 3], 10 * 2 ** (math.log(2) / math.log(3))),
    ],
)
def test_crossing_length(attention, expected):
    rows = rows_of({"self_attention": attention, "recurrent": [2, 2, 2]}, [10, 20, 40])
    crossing = crossing_length(rows, "self_attention", "recurrent")
    assert crossing == (expected and pytest.approx(expected))
