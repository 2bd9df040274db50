"""Measure how much faster several processes train one model than one does.

    python benchmarks/processes.py [--processes 1 2 4] [--device cuda] [--config NAME]

Each row is a run of `torchrun --nproc-per-node N -m transformer train` on the grammar
corpus: the same batches, shared by N processes. What counts is the target tokens a
second of its last epochs; the first one, in which everything gets warm, is left out.
Give each process a core or a GPU of its own: on a machine that does something else, or
has fewer cores than processes, the figures say nothing. Writes
`benchmarks/results/processes.json`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from transformer.data.whole_file import whole_file
from transformer.training.checkpoints import load_checkpoint
from transformer.training.loop import LAST

RESULT = Path(__file__).parent / "results" / "processes.json"
EPOCHS, STEPS = 4, 30


def tokens_per_second(count: int, device: str, config: str, out: Path) -> float:
    """Train in so many processes; return how many target tokens a second they took."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(count), "-m", "transformer", "train"]
    command += ["--config", config, "--device", device, "--out", str(out)]
    command += ["--epochs", str(EPOCHS), "--epoch-steps", str(STEPS)]
    subprocess.run(command, check=True)
    history = load_checkpoint(out / LAST).history
    return statistics.median(record["tokens_per_second"] for record in history[1:])


def main() -> None:
    """Measure each number of processes, print and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--config", default="tutorial")
    options = parser.parse_args()
    rows = []
    for count in options.processes:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            speed = tokens_per_second(count, options.device, options.config, out)
        rows.append({"processes": count, "tokens_per_second": round(speed, 1)})
        rows[-1]["times_the_first"] = round(speed / rows[0]["tokens_per_second"], 2)
        print(rows[-1], flush=True)
    found = {"device": options.device, "config": options.config}
    found |= {"torch": torch.__version__, "epochs": EPOCHS, "steps": STEPS}
    with whole_file(RESULT) as file:
        file.write((json.dumps({**found, "rows": rows}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
