"""Measure how many tokens a second the paper's base model is trained on.

    python benchmarks/base_model.py [--device cuda] [--tokens 25000] [--steps 20]
                                    [--precision bfloat16] [--threads 1]

Takes steps as `--config base` does, Adam's among them, on sentences of 25 words drawn
by chance from 37,000: which words they are changes no time. What counts is the target
tokens a second of all steps but the first, in which everything gets warm. From them
follow the hours of the paper's 100,000 steps. Writes
`benchmarks/results/base_model.json`, a row for each device, and leaves the others.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from timing import machine

from transformer.data import EOS_ID, SOS_ID, SPECIAL_TOKENS, Batch, Vocabulary
from transformer.data.whole_file import whole_file
from transformer.training.config import PRECISIONS, TrainingConfig
from transformer.training.loop import TrainingData
from transformer.training.presets import Preset, choose_device, make_trainer, recipe

RESULT = Path(__file__).parent / "results" / "base_model.json"
WORDS, LENGTH = 37_000, 25  # of the vocabulary; of a sentence, with <sos> and <eos>
STEPS_OF_THE_PAPER, TOKENS_OF_THE_PAPER = 100_000, 25_000


class DrawnBatches:
    """Hold one batch, which comes as often as it is asked for."""

    def __init__(self, tokens: int, times: int, device: torch.device) -> None:
        """Draw sentences of that many tokens in all, on each side."""
        rows = tokens // LENGTH
        draw = torch.Generator().manual_seed(0)
        first = len(SPECIAL_TOKENS)
        sides = torch.randint(first, WORDS, (2, rows, LENGTH), generator=draw)
        sides[:, :, 0], sides[:, :, -1] = SOS_ID, EOS_ID
        src, tgt = sides.to(device)
        self.batches = [Batch(src, tgt, tuple(range(rows)))] * times

    def epoch(self, number: int) -> "DrawnBatches":
        """Return itself: every epoch is the same."""
        return self

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batch, again and again."""
        return iter(self.batches)


def measure(
    device: torch.device, tokens: int, steps: int, **changes: Any
) -> dict[str, Any]:
    """Take a step to get warm, then some more; return what they were and took."""
    chosen = recipe(Preset.base)
    config: TrainingConfig = chosen.training(epochs=1, **changes)
    words = Vocabulary([*SPECIAL_TOKENS, *map(str, range(WORDS - len(SPECIAL_TOKENS)))])
    valid = DrawnBatches(LENGTH, 1, device)
    data = TrainingData(DrawnBatches(tokens, 1, device), valid, (words, words))
    trainer = make_trainer(chosen, data, config, device)
    trainer.run()
    trainer.config = chosen.training(epochs=2, **changes)
    trainer.data = TrainingData(
        DrawnBatches(tokens, steps, device), valid, data.vocabularies
    )
    speed = trainer.run()[-1]["tokens_per_second"]
    seconds = STEPS_OF_THE_PAPER * TOKENS_OF_THE_PAPER / speed
    return {
        "precision": config.precision,
        "parts": config.accumulate,
        "tokens_of_a_batch": tokens,
        "steps": steps,
        "tokens_per_second": round(speed, 1),
        "hours_of_100000_steps": round(seconds / 3600, 1),
    }


def name_of(device: torch.device, threads: int) -> str:
    """Return what a device is called."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{machine(threads)['processor']}, {threads} thread"


def main() -> None:
    """Measure one device, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=TOKENS_OF_THE_PAPER)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--precision", choices=PRECISIONS, default="bfloat16")
    options = parser.parse_args()
    device = choose_device(options.device, options.threads)
    changes = {"precision": options.precision, "accumulate": options.parts}
    row = measure(device, options.tokens, options.steps, **changes)
    row = {"torch": torch.__version__, **row}
    print(json.dumps(row, indent=1))
    rows = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    rows[name_of(device, options.threads)] = row
    with whole_file(RESULT) as file:
        file.write((json.dumps(rows, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
