"""Print Table 1 of Vaswani et al. (2017), predicted and measured.

    python benchmarks/complexity.py [--d-model 64] [--width 3] [--batch-size 128]
                                    [--device cpu]

Each measurement is the forward pass of one layer on one thread: milliseconds for the
whole batch, the median of many runs. Below each time are the multiply-adds that Table 1
predicts.
"""

import argparse

import torch
from rich.console import Console
from rich.table import Table

from transformer.experiments.complexity import LAYER_KINDS, LayerCost, predict_layers
from transformer.experiments.layer_timing import (
    Measurement,
    TimingSettings,
    crossing_length,
    measure_layers,
)

LENGTHS = [16, 32, 64, 128, 256, 512]


def print_table(
    predicted: list[LayerCost], measured: list[Measurement], batch_size: int
) -> None:
    """Print a row for each kind of layer and a column for each length."""
    seconds = {(row.kind, row.length): row.seconds for row in measured}
    costs = {(row.kind, row.length): row for row in predicted}
    table = Table("layer", *(f"n = {n}" for n in LENGTHS), "sequential", "path")
    for kind in LAYER_KINDS:
        times = [f"{1e3 * seconds[kind, n]:.2f} ms" for n in LENGTHS]
        counts = [
            f"{batch_size * costs[kind, n].multiply_adds / 1e6:.1f} M" for n in LENGTHS
        ]
        longest = costs[kind, LENGTHS[-1]]
        cells = [f"{time}\n{count}" for time, count in zip(times, counts, strict=True)]
        table.add_row(kind, *cells, str(longest.sequential), str(longest.path))
    Console(width=112).print(table)


def main() -> None:
    """Measure, and print the table and the lengths at which two times are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--d-model", type=int, default=64)
    parser.add_argument("--width", type=int, default=3, help="k and r, odd")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    settings = TimingSettings(
        options.d_model, options.width, options.batch_size, device=options.device
    )
    predicted = predict_layers(LENGTHS, options.d_model, options.width)
    measured = measure_layers(LAYER_KINDS, LENGTHS, settings)
    print(f"torch {torch.__version__}, {settings}")
    print(f"sequential operations and longest path at n = {LENGTHS[-1]}")
    print_table(predicted, measured, options.batch_size)
    for other in ("recurrent", "restricted_attention"):
        crossing = crossing_length(measured, "self_attention", other)
        found = (
            "at none of these lengths" if crossing is None else f"n = {crossing:.0f}"
        )
        print(f"self-attention becomes slower than {other}: {found}")


if __name__ == "__main__":
    main()
