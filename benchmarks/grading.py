"""Time the autograder against stock `nbgrader autograde`, in one run.

    python benchmarks/grading.py [--unit 04] [--small 100] [--large 1000] [--stock 100]

Both grade the same submissions of one unit: right answers in two styles, mistakes,
half-done and untouched ones. Ours runs the hidden checks, in a sandbox; stock nbgrader
runs the notebook with its visible checks only, which is less work. Both are whole
commands, start included. Then: the cost of a submission in a large class, one
submission graded again with everything warm, and a child's private memory.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from itertools import cycle
from pathlib import Path

import nbformat
import torch
from nbformat import NotebookNode

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import write
from autograder.course import load_course
from autograder.grading.submission import grade_submission, shared_parent
from autograder.proof.sample_class import SampleClass
from autograder.unit import graded_unit

LEFT_OUT = ("looping", "damaged")  # the one measures a limit, the other stops stock
STOCK = """\
c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.root = {root!r}
"""
NBGRADER = [sys.executable, "-m", "nbgrader"]


def make_notebooks(unit: str) -> list[NotebookNode]:
    """Make the submissions that a class is put together from."""
    made = SampleClass(unit)
    return [
        made.notebook(sample.answers)
        for sample in made.samples()
        if sample.student not in LEFT_OUT
    ]


def write_class(root: Path, slug: str, notebooks: list[NotebookNode], n: int) -> None:
    """Write `n` submissions under `root`."""
    texts = cycle([nbformat.writes(notebook) for notebook in notebooks])
    for number, text in zip(range(n), texts, strict=False):
        folder = root / "submitted" / f"student-{number:04}" / slug
        folder.mkdir(parents=True)
        (folder / f"{slug}.ipynb").write_text(text, encoding="utf-8")


def timed(command: list[str], root: Path) -> float:
    """Run a command in a folder; return its seconds.

    Raises:
        SystemExit: with what it said, if it fails.
    """
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs}  # nbgrader calls alembic
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr}")
    return time.perf_counter() - start


def time_ours(slug: str, notebooks: list[NotebookNode], n: int, root: Path) -> float:
    """Return the seconds of `course grade` on a class of `n`."""
    write_class(root, slug, notebooks, n)
    command = [sys.executable, "-m", "autograder", "grade", slug, "--no-feedback"]
    return timed([*command, "--course-root", str(root)], root)


def time_stock(slug: str, notebooks: list[NotebookNode], n: int, root: Path) -> float:
    """Return the seconds of stock `nbgrader autograde` on a class of `n`."""
    course = load_course()
    unit = course.unit(slug)
    source = root / "source" / slug
    source.mkdir(parents=True)
    shutil.copy(course.answer_notebook(unit), source)
    kit = course.release_notebook(unit).parent / course.package
    shutil.copytree(kit, source / course.package)
    (root / "nbgrader_config.py").write_text(STOCK.format(root=str(root)))
    timed([*NBGRADER, "generate_assignment", slug], root)
    write_class(root, slug, notebooks, n)
    return timed([*NBGRADER, "autograde", slug, "--create"], root)


def regrade_seconds(root: Path, slug: str) -> list[float]:
    """Grade single submissions again, gradebook included, with everything warm."""
    torch.set_num_threads(1)
    folder, unit, parent = ClassFolder(root), graded_unit(slug), shared_parent()
    found = []
    for submission in list(folder.submissions(slug))[:11]:
        start = time.perf_counter()
        write(folder, grade_submission(unit, submission, folder.limits, parent))
        found.append(time.perf_counter() - start)
    return found[1:]  # the first warms up


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


def child_megabytes(root: Path, slug: str) -> float:
    """Return the largest private memory of a child while submissions are graded."""
    folder, unit, parent = ClassFolder(root), graded_unit(slug), shared_parent()
    watch = MemoryWatch(fork_server(os.getpid()))
    watch.start()
    for submission in list(folder.submissions(slug))[:5]:
        grade_submission(unit, submission, folder.limits, parent)
    watch.is_over = True
    watch.join()
    return watch.most_bytes / 1e6


def fork_server(pid: int) -> int:
    """Return the process that forks: the one at the end of the sandbox's chain."""
    below = descendants(pid)
    return below[-1] if below else pid


def main() -> None:
    """Measure and print; `--json` also writes the figures."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--unit", default="04")
    parser.add_argument("--small", type=int, default=100)
    parser.add_argument("--large", type=int, default=1000)
    parser.add_argument("--stock", type=int, default=100)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="grading-benchmark-") as home:
        figures = measure(options, Path(home))
    text = json.dumps(figures, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


def measure_small(unit: str, ours: int, stock: int) -> dict[str, float | str | int]:
    """Compare our seconds a submission with stock nbgrader's, in small classes."""
    slug = load_course().unit(unit).slug
    notebooks = make_notebooks(slug)
    with tempfile.TemporaryDirectory(prefix="grading-benchmark-") as name:
        home = Path(name)
        own = time_ours(slug, notebooks, ours, home / "ours") / ours
        peer = time_stock(slug, notebooks, stock, home / "stock") / stock
    return {
        "unit": slug,
        "class": ours,
        "stock_class": stock,
        "ours": round(own, 3),
        "theirs": round(peer, 3),
        "middle": round(peer / own, 2),
    }


def measure(options: argparse.Namespace, home: Path) -> dict[str, float | str | int]:
    """Return every figure by its name."""
    slug = load_course().unit(options.unit).slug
    notebooks = make_notebooks(slug)
    small = time_ours(slug, notebooks, options.small, home / "small") / options.small
    print(f"ours, class of {options.small}: {small:.3f} s a submission")
    stock = time_stock(slug, notebooks, options.stock, home / "stock") / options.stock
    print(f"stock, class of {options.stock}: {stock:.3f} s a submission")
    large = time_ours(slug, notebooks, options.large, home / "large") / options.large
    print(f"ours, class of {options.large}: {large:.3f} s a submission")
    regrades = regrade_seconds(home / "small", slug)
    return {
        "unit": slug,
        "stock_seconds_a_submission": round(stock, 3),
        f"seconds_a_submission_of_{options.small}": round(small, 3),
        f"seconds_a_submission_of_{options.large}": round(large, 3),
        "times_the_throughput_of_stock": round(stock / small, 1),
        "large_to_small": round(large / small, 3),
        "regrade_seconds_median": round(statistics.median(regrades), 3),
        "regrade_seconds_most": round(max(regrades), 3),
        "child_private_megabytes": round(child_megabytes(home / "small", slug), 1),
    }


if __name__ == "__main__":
    main()
