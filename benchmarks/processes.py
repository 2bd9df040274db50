"""Measure the speed of training with several processes, and of the base model.

    python benchmarks/processes.py [--processes 1 2 4] [--device cuda] [--config NAME]
    python benchmarks/processes.py --base [--device cuda] [--steps 20] [--tokens 25000]

Each row is a run of `torchrun --nproc-per-node N -m transformer train` on the grammar
corpus: the same batches, shared by N processes. The result is the median of target
tokens per second over all epochs but the first, which only warms up. Give each process
its own core or GPU. The figures mean nothing on a machine that runs other
programs or has fewer cores than processes. They are written to
`benchmarks/results/processes.json`.

`--base` takes training steps of `--config base` in one process, including Adam's
updates. The sentences consist of 25 random words out of 37,000, because the choice of
words does not change the time. The first step only warms up and is not counted. The
tokens per second give the hours that the paper's 100,000 steps would take. The result
is written to `benchmarks/results/base_model.json`, which has a row for each device.
Rows of other devices are kept.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from timing import machine

from transformer.data import EOS_ID, SOS_ID, SPECIAL_TOKENS, Batch, Vocabulary
from transformer.data.whole_file import whole_file
from transformer.training.checkpoints import load_checkpoint
from transformer.training.loop import LAST, TrainingData
from transformer.training.presets import Preset, choose_device, make_trainer, recipe

RESULT = Path(__file__).parent / "results" / "processes.json"
BASE_RESULT = RESULT.with_name("base_model.json")
EPOCHS, STEPS = 4, 30
WORDS, LENGTH = 37_000, 25  # in the vocabulary; in a sentence, with <sos> and <eos>
STEPS_OF_THE_PAPER, TOKENS_OF_THE_PAPER = 100_000, 25_000


def tokens_per_second(count: int, device: str, config: str, out: Path) -> float:
    """Train in `count` processes; return the median of target tokens per second."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--local-addr", "localhost"]
    command += ["--nproc-per-node", str(count), "-m", "transformer", "train"]
    command += ["--config", config, "--device", device, "--out", str(out)]
    command += ["--epochs", str(EPOCHS), "--epoch-steps", str(STEPS)]
    subprocess.run(command, check=True)
    history = load_checkpoint(out / LAST).history
    return statistics.median(record["tokens_per_second"] for record in history[1:])


def measure_processes(counts: list[int], device: str, config: str) -> None:
    """Measure each number of processes, print the results, and write them."""
    rows = []
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            speed = tokens_per_second(count, device, config, Path(folder) / "run")
        rows.append({"processes": count, "tokens_per_second": round(speed, 1)})
        rows[-1]["times_the_first"] = round(speed / rows[0]["tokens_per_second"], 2)
        print(rows[-1], flush=True)
    found = {"device": device, "config": config, "torch": torch.__version__}
    write(RESULT, {**found, "epochs": EPOCHS, "steps": STEPS, "rows": rows})


class DrawnBatches:
    """An epoch that repeats the same random batch."""

    def __init__(self, tokens: int, times: int, device: torch.device) -> None:
        """Draw random sentences with `tokens` tokens in all on each side."""
        rows = tokens // LENGTH
        draw = torch.Generator().manual_seed(0)
        shape, first = (2, rows, LENGTH), len(SPECIAL_TOKENS)
        sides = torch.randint(first, WORDS, shape, generator=draw)
        sides[:, :, 0], sides[:, :, -1] = SOS_ID, EOS_ID
        src, tgt = sides.to(device)
        self.batches = [Batch(src, tgt, tuple(range(rows)))] * times

    def epoch(self, number: int) -> "DrawnBatches":
        """Return this object, because every epoch is the same."""
        return self

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the same batch for every step."""
        return iter(self.batches)


def base_speed(
    device: torch.device, tokens: int, steps: int, **changes: Any
) -> dict[str, Any]:
    """Take a step to warm up, then time some more; return speed and settings."""
    chosen = recipe(Preset.base)
    words = Vocabulary([*SPECIAL_TOKENS, *map(str, range(WORDS - len(SPECIAL_TOKENS)))])
    warm, timed, valid = (
        DrawnBatches(*size, device) for size in ((tokens, 1), (tokens, steps), (50, 1))
    )
    config = chosen.training(epochs=1, **changes)
    data = TrainingData(warm, valid, (words, words))
    trainer = make_trainer(chosen, data, config, device)
    trainer.run()
    trainer.config = chosen.training(epochs=2, **changes)
    trainer.data = TrainingData(timed, valid, data.vocabularies)
    speed = trainer.run()[-1]["tokens_per_second"]
    hours = STEPS_OF_THE_PAPER * TOKENS_OF_THE_PAPER / speed / 3600
    return {
        "torch": torch.__version__,
        "precision": config.precision,
        "parts": config.accumulate,
        "tokens_of_a_batch": tokens,
        "steps": steps,
        "tokens_per_second": round(speed, 3),
        "hours_of_100000_steps": round(hours, 1),
    }


def measure_base(device: torch.device, threads: int, tokens: int, steps: int) -> None:
    """Time the base model on one device, print the result, and write it."""
    row = base_speed(device, tokens, steps)
    print(json.dumps(row, indent=1))
    name = f"{machine(threads)['processor']}, {threads} thread"
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
    rows = json.loads(BASE_RESULT.read_text("utf-8")) if BASE_RESULT.exists() else {}
    write(BASE_RESULT, {**rows, name: row})


def write(path: Path, found: dict[str, Any]) -> None:
    """Write a result as JSON."""
    with whole_file(path) as file:
        file.write((json.dumps(found, indent=1) + "\n").encode())


def main() -> None:
    """Measure the base model or the processes, as the options ask."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--config", default="tutorial")
    parser.add_argument("--base", action="store_true", help="the paper's model instead")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=TOKENS_OF_THE_PAPER)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    if options.base:
        device = choose_device(options.device, options.threads)
        measure_base(device, options.threads, options.tokens, options.steps)
    else:
        measure_processes(options.processes, options.device, options.config)


if __name__ == "__main__":
    main()
