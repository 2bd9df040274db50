"""Show that the memory of a training run does not grow with the corpus.

    python benchmarks/own_files.py [--pairs 45000 450000 4500000] [--folder DIR]

Each line of the corpus consists of two random sentences of the grammar. `python -m
transformer train --data files` runs in a new process: it checks the corpus, learns
subwords, numbers the corpus, and takes a few training steps. The result is the peak
resident memory of this process, as reported by the operating system. It is written to
`benchmarks/results/own_files.json`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from transformer.data import detokenize, make_grammar_corpus
from transformer.data.whole_file import whole_file

RESULT = Path(__file__).parent / "results" / "own_files.json"
SIDES = ("de", "en")
STEPS = 20
TOGETHER = 10_000  # number of lines that are written at once


def write_corpus(folder: Path, n_pairs: int, seed: int = 0) -> int:
    """Write `n_pairs` training pairs and some validation pairs; return the bytes."""
    corpus = make_grammar_corpus()
    draw = random.Random(seed)
    for name, pairs, count in (
        ("train", corpus.train, n_pairs),
        ("valid", corpus.valid, 100),
    ):
        texts = [(detokenize(pair.src), detokenize(pair.tgt)) for pair in pairs]
        paths = [folder / f"{name}.{side}" for side in SIDES]
        with paths[0].open("w") as src, paths[1].open("w") as tgt:
            for start in range(0, count, TOGETHER):
                some = min(TOGETHER, count - start)
                first, second = (draw.choices(texts, k=some) for _ in range(2))
                both = list(zip(first, second, strict=True))
                src.writelines(f"{a[0]} {b[0]}\n" for a, b in both)
                tgt.writelines(f"{a[1]} {b[1]}\n" for a, b in both)
    return sum((folder / f"train.{side}").stat().st_size for side in SIDES)


def measure(n_pairs: int, folder: Path) -> dict[str, float | int]:
    """Train for a few steps on `n_pairs` pairs; return the time and the memory."""
    size = write_corpus(folder, n_pairs)
    files = {
        name: [folder / f"{name}.{s}" for s in SIDES] for name in ("train", "valid")
    }
    command = [sys.executable, "-m", "transformer", "train", "--data", "files"]
    command += ["--src", files["train"][0], "--tgt", files["train"][1]]
    command += ["--valid", *files["valid"], "--config", "tiny", "--device", "cpu"]
    command += ["--epochs", "1", "--epoch-steps", str(STEPS), "--out", folder / "run"]
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the training ended with {process.returncode}")
    return {
        "pairs": n_pairs,
        "megabytes_of_text": round(size / 1e6, 1),
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_resident_megabytes": round(usage.ru_maxrss * 1024 / 1e6, 1),
    }


def main() -> None:
    """Measure each size, print the results, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [45_000, 450_000, 4_500_000]
    parser.add_argument("--pairs", type=int, nargs="+", default=sizes)
    parser.add_argument("--folder", type=Path, help="for the corpora; else temporary")
    options = parser.parse_args()
    rows = []
    for n_pairs in options.pairs:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows.append(measure(n_pairs, Path(folder)))
        print(rows[-1], flush=True)
    with whole_file(RESULT) as file:
        file.write(
            (json.dumps({"steps": STEPS, "rows": rows}, indent=1) + "\n").encode()
        )


if __name__ == "__main__":
    main()
