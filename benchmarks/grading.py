"""Compare the speed of the autograder with stock `nbgrader autograde`.

    python benchmarks/grading.py [--unit 04] [--large] [--cluster] [--before CHECKOUT]

Both grade the same submissions of one unit: right answers in two styles, mistakes, and
half-finished and untouched notebooks. Our autograder runs the hidden checks in a
sandbox. Stock nbgrader runs only the notebook with its visible checks, which is less
work. Both times are those of complete commands, including their start.

Then measure the time for each submission in a class of 1,000, the memory of the
command, feedback for 400 students, regrading of a single submission, and the private
memory of a child process. All of this takes under 15 minutes on two idle cores.

`--large` adds the memory for a class of 10,000. `--cluster` adds a class of 10,000 on a
dask cluster with two groups of workers, of which one worker is killed. Each adds half
an hour or more. `--before CHECKOUT` alternates with an earlier commit, in whose
checkout `make setup` has run, on classes of 200. It shows whether a change has made
grading slower. All results are written to `results/grading.json`.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import nbformat
import torch
from nbformat import NotebookNode
from timing import MemoryWatch, Took, compare, descendants, timed

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import write
from autograder.course import load_course
from autograder.grading.submission import grade_submission, shared_parent
from autograder.marks import scores_in_gradebook
from autograder.proof.sample_class import SampleClass
from autograder.unit import graded_unit

RESULTS = Path(__file__).parent / "results" / "grading.json"
LEFT_OUT = ("looping", "damaged")  # one measures a limit, and one stops stock nbgrader
STOCK = """\
c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.root = {root!r}
"""
NBGRADER = [sys.executable, "-m", "nbgrader"]
COURSE = Path(sys.executable).with_name("course")


class Sizes(NamedTuple):
    """Hold the sizes of the classes, and when a worker of the cluster is killed."""

    small: int = 100
    large: int = 1000
    with_feedback: int = 400
    largest: int = 10_000
    killed_after: float = 120.0  # seconds
    in_turn: int = 200


FEW = Sizes(10, 20, 10, 60, 8.0)


def make_notebooks(unit: str) -> list[NotebookNode]:
    """Make the different submissions, which are repeated to form a class."""
    made = SampleClass(unit)
    return [
        made.notebook(sample.answers)
        for sample in made.samples()
        if sample.student not in LEFT_OUT
    ]


def write_class(root: Path, slug: str, notebooks: list[NotebookNode], n: int) -> None:
    """Write a class of `n` submissions under `root`."""
    texts = cycle([nbformat.writes(notebook) for notebook in notebooks])
    for number, text in zip(range(n), texts, strict=False):
        folder = root / "submitted" / f"student-{number:04}" / slug
        folder.mkdir(parents=True)
        (folder / f"{slug}.ipynb").write_text(text, encoding="utf-8")


def time_ours(
    slug: str,
    notebooks: list[NotebookNode],
    n: int,
    root: Path,
    *options: str,
    course: Path = COURSE,
) -> Took:
    """Return the time and memory of `course grade` for a class of `n`."""
    write_class(root, slug, notebooks, n)
    command = [str(course), "grade", slug, *(options or ("--no-feedback",))]
    return timed([*command, "--course-root", str(root)], root)


def before(
    checkout: Path, slug: str, notebooks: list[NotebookNode], home: Path
) -> dict[str, dict[str, float]]:
    """Alternately grade equal classes with this course and an earlier checkout."""
    n, pairs = Sizes().in_turn, []
    for turn in range(3):
        roots = home / f"now-{turn}", home / f"before-{turn}"
        commands = COURSE, checkout / ".venv" / "bin" / "course"
        turns = zip(roots, commands, strict=True)
        took = [time_ours(slug, notebooks, n, r, course=c) for r, c in turns]
        pairs.append([one.seconds / n for one in took])
    return {f"in_turn_with_before_{n}": compare(pairs).rounded()}


def feedback_seconds(slug: str, n: int, root: Path) -> float:
    """Return the seconds for writing the feedback pages of `n` graded submissions."""
    for path in sorted((root / "submitted").iterdir())[n:]:
        shutil.rmtree(path)
    command = [str(COURSE), "grade", slug, "--course-root", str(root)]
    seconds = timed(command, root).seconds
    pages = list((root / "feedback").glob(f"*/{slug}/{slug}.html"))
    if len(pages) != n:
        raise SystemExit(f"{len(pages)} pages were written, not {n}")
    return seconds


def time_stock(slug: str, notebooks: list[NotebookNode], n: int, root: Path) -> Took:
    """Return the time and memory of stock `nbgrader autograde` for a class of `n`."""
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
    """Return the seconds for regrading single submissions, with warm caches.

    The time includes the gradebook.
    """
    torch.set_num_threads(1)
    folder, unit, parent = ClassFolder(root), graded_unit(slug), shared_parent()
    found = []
    for submission in list(folder.submissions(slug))[:11]:
        start = time.perf_counter()
        write(folder, grade_submission(unit, submission, folder.limits, parent))
        found.append(time.perf_counter() - start)
    return found[1:]  # the first one only warms up


def child_megabytes(root: Path, slug: str) -> float:
    """Return the largest private memory of a child process during grading."""
    folder, unit, parent = ClassFolder(root), graded_unit(slug), shared_parent()
    watch = MemoryWatch(fork_server(os.getpid()))
    watch.start()
    for submission in list(folder.submissions(slug))[:5]:
        grade_submission(unit, submission, folder.limits, parent)
    watch.is_over = True
    watch.join()
    return watch.most_bytes / 1e6


def fork_server(pid: int) -> int:
    """Return the process that forks the children, the last in the sandbox's chain."""
    below = descendants(pid)
    return below[-1] if below else pid


def on_a_cluster(
    slug: str, notebooks: list[NotebookNode], sizes: Sizes, home: Path
) -> dict:
    """Grade the largest class on a cluster of two groups of two workers.

    One of the workers is killed meanwhile.
    """
    dask, started = [sys.executable, "-m", "dask"], []
    place = home / "scheduler.json"
    try:
        started.append(
            subprocess.Popen([*dask, "scheduler", "--scheduler-file", str(place)])
        )
        for group in ("one", "two"):  # like two hosts
            options = ["--nworkers", "2", "--nthreads", "1", "--name", group]
            worker = [*dask, "worker", "--scheduler-file", str(place), *options]
            started.append(subprocess.Popen(worker))
        while not place.exists():
            time.sleep(0.5)
        address = json.loads(place.read_text())["address"]
        killing = threading.Timer(sizes.killed_after, kill_a_worker, [started[1].pid])
        killing.daemon = True
        killing.start()
        options = ("--no-feedback", "--scheduler", address)
        took = time_ours(slug, notebooks, sizes.largest, home / "cluster", *options)
    finally:
        for process in started:
            process.terminate()
            process.wait()
    written = scores_in_gradebook(ClassFolder(home / "cluster").db_url, slug)
    return {
        "cluster_class": sizes.largest,
        "cluster_workers": 4,
        "cluster_worker_killed": not killing.is_alive(),
        "cluster_scores_written": len(written),
        "cluster_seconds": round(took.seconds, 1),
        "cluster_megabytes": round(took.megabytes, 1),
    }


def kill_a_worker(group: int) -> None:
    """Kill one worker of the group whose nanny process is `group`."""
    for pid in descendants(group):
        if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)
            return


def main() -> None:
    """Measure what the options ask for, print the figures, and write them."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--unit", default="04")
    parser.add_argument("--large", action="store_true", help="also a class of 10,000")
    parser.add_argument("--cluster", action="store_true", help="also on a cluster")
    parser.add_argument("--before", type=Path, help="also an earlier checkout's")
    parser.add_argument("--few", action="store_true", help="small classes, to try it")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    figures: dict[str, float | str] = {}
    with tempfile.TemporaryDirectory(prefix="grading-benchmark-") as home:
        for more in measure(options, Path(home)):
            print(json.dumps(more, indent=1), flush=True)
            figures |= more
            text = json.dumps(figures, indent=1)
            options.json.write_text(text + "\n", encoding="utf-8")


def measure_small(unit: str, ours: int, stock: int) -> dict[str, float | str | int]:
    """Compare our seconds per submission with stock nbgrader's, in small classes."""
    slug = load_course().unit(unit).slug
    notebooks = make_notebooks(slug)
    with tempfile.TemporaryDirectory(prefix="grading-benchmark-") as name:
        home = Path(name)
        own = time_ours(slug, notebooks, ours, home / "ours").seconds / ours
        peer = time_stock(slug, notebooks, stock, home / "stock").seconds / stock
    return {
        "unit": slug,
        "class": ours,
        "stock_class": stock,
        "ours": round(own, 3),
        "theirs": round(peer, 3),
        "middle": round(peer / own, 2),
    }


def measure(options: argparse.Namespace, home: Path) -> Iterator[dict]:
    """Yield the figures by name, each group of them as soon as it is measured."""
    slug = load_course().unit(options.unit).slug
    notebooks, sizes = make_notebooks(slug), FEW if options.few else Sizes()
    small, large, pages = sizes.small, sizes.large, sizes.with_feedback
    stock = time_stock(slug, notebooks, small, home / "stock").seconds / small
    few = time_ours(slug, notebooks, small, home / "small").seconds / small
    yield {
        "unit": slug,
        "stock_seconds_a_submission": round(stock, 3),
        f"seconds_a_submission_of_{small}": round(few, 3),
        "times_the_throughput_of_stock": round(stock / few, 1),
    }
    took = time_ours(slug, notebooks, large, home / "large")
    many = took.seconds / large
    yield {
        f"seconds_a_submission_of_{large}": round(many, 3),
        f"times_the_throughput_of_stock_at_{large}": round(stock / many, 1),
        "large_to_small": round(many / few, 3),
        f"megabytes_at_{large}": round(took.megabytes, 1),
    }
    regrades = regrade_seconds(home / "small", slug)
    feedback = feedback_seconds(slug, pages, home / "large")
    yield {
        f"feedback_seconds_of_{pages}": round(feedback, 1),
        "regrade_seconds_median": round(statistics.median(regrades), 3),
        "regrade_seconds_most": round(max(regrades), 3),
        "child_private_megabytes": round(child_megabytes(home / "small", slug), 1),
    }
    if options.before:
        yield before(options.before.resolve(), slug, notebooks, home)
    if options.large:
        most = sizes.largest
        took = time_ours(slug, notebooks, most, home / "largest")
        yield {
            f"megabytes_at_{most}": round(took.megabytes, 1),
            f"seconds_a_submission_of_{most}": round(took.seconds / most, 3),
        }
    if options.cluster:
        yield on_a_cluster(slug, notebooks, sizes, home)


if __name__ == "__main__":
    main()
