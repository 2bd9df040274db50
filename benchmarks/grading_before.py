"""Time the autograder against an earlier state of it, in turn, on equal classes.

    python benchmarks/grading_before.py CHECKOUT [--unit 04]

Is grading slower for what was added since? CHECKOUT is a checkout of the earlier commit
in which `make setup` has run. Both are whole commands, start included, and neither
writes feedback. Stock nbgrader is timed in the same run. Takes ten minutes of two quiet
cores; the figures go into `results/grading_before.json`.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from grading import make_notebooks, time_ours, time_stock, write_class
from nbformat import NotebookNode
from timing import compare, machine, timed

from autograder.course import load_course

RESULTS = Path(__file__).parent / "results" / "grading_before.json"
TURNS = 3


def time_before(
    checkout: Path, slug: str, notebooks: list[NotebookNode], n: int, root: Path
) -> float:
    """Return the seconds that the earlier `course grade` took on a class of `n`."""
    write_class(root, slug, notebooks, n)
    command = [str(checkout / ".venv" / "bin" / "course"), "grade", slug]
    options = ["--no-feedback", "--course-root", str(root)]
    return timed([*command, *options], root).seconds


def commit_of(checkout: Path) -> str:
    """Return the short name of a checkout's commit."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--unit", default="04")
    parser.add_argument("--class", dest="size", type=int, default=200)
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    checkout, n = options.checkout.resolve(), options.size
    slug = load_course().unit(options.unit).slug
    notebooks = make_notebooks(slug)
    told, pairs = machine(2), []
    with tempfile.TemporaryDirectory(prefix="grading-benchmark-") as name:
        home = Path(name)
        for turn in range(TURNS):
            now = time_ours(slug, notebooks, n, home / f"now-{turn}").seconds / n
            then = home / f"then-{turn}"
            pairs.append((now, time_before(checkout, slug, notebooks, n, then) / n))
            print(pairs[-1], flush=True)
        few = max(n // 4, 1)
        stock = time_stock(slug, notebooks, few, home / "stock").seconds / few
    figures = {
        "unit": slug,
        "class": n,
        "commit_before": commit_of(checkout).strip(),
        "stock_seconds_a_submission": round(stock, 3),
        "seconds_a_submission_now_and_before": compare(pairs).rounded(),
        "turns": [[round(part, 4) for part in pair] for pair in pairs],
        "machine": told,
    }
    options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
