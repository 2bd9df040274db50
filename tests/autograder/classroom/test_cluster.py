"""A dask cluster gives the same scores as one machine, even if it loses a worker."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ports import held_port
from tiny_grading import (
    EXPECTED,
    UNIT,
    cells,
    checks,
    grade,
    only,
    scores,
)

pytest.importorskip("distributed")
from distributed import Client

from autograder.classroom import cluster, cluster_worker
from autograder.classroom.folder import ClassFolder
from autograder.classroom.grading_run import Choice, run_through
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
FEW = ("perfect-one", "perfect-two", "mistake-1", "looping", "half-done", "damaged")
PATIENCE = 600  # seconds: only hanging fails, not slowness


@dataclass
class Machines:
    """A scheduler and its workers, each in its own process on loopback."""

    home: Path
    address: str = ""
    scheduler: subprocess.Popen | None = None
    workers: dict[str, subprocess.Popen] = field(default_factory=dict)

    def start(self, kind: str, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", kind, *arguments, "--no-dashboard"]
        with (self.home / f"{kind}.txt").open("ab") as said:
            return subprocess.Popen(
                command,
                cwd=self.home,
                env={
                    **os.environ,
                    "TMPDIR": str(self.home),
                },  # a killed worker leaves it
                stdout=said,
                stderr=said,
            )

    def start_worker(self) -> str:
        name = f"worker-{len(self.workers)}"
        options = ["--no-nanny", "--nthreads", "1", "--host", "127.0.0.1"]
        process = self.start("worker", self.address, *options, "--name", name)
        self.workers[name] = process
        return name

    def end(self) -> None:
        for process in [*self.workers.values(), self.scheduler]:
            process.kill()
            process.wait()


@contextlib.contextmanager
def running(home: Path, workers: int) -> Iterator[Machines]:
    """Run a scheduler on a port of its choice, and some workers."""
    machines, told = Machines(home), home / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(told)]
    machines.scheduler = machines.start("scheduler", *options)
    try:
        machines.address = address_in(told, machines.scheduler)
        for _ in range(workers):
            machines.start_worker()
        with connected(machines) as client:
            client.wait_for_workers(workers, timeout=PATIENCE) if workers else None
        yield machines
    finally:
        machines.end()


def address_in(told: Path, scheduler: subprocess.Popen) -> str:
    """Wait until a scheduler has written its address."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert scheduler.poll() is None, "the scheduler ended"
        with contextlib.suppress(OSError, json.JSONDecodeError):
            return json.loads(told.read_text())["address"]
        time.sleep(0.1)
    raise AssertionError("the scheduler does not say where it listens")


def connected(machines: Machines) -> Client:
    """Return a client of a scheduler."""
    return Client(machines.address, timeout=PATIENCE, set_as_default=False)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Run two workers. A test may kill one if it starts another one."""
    with running(tmp_path_factory.mktemp("cluster"), 2) as machines:
        yield machines


def log(root: Path) -> list[tuple[str, str]]:
    lines = (root / "grading" / "audit.jsonl").read_text().splitlines()
    return [(x["student"], x["status"]) for x in map(json.loads, lines)]


def test_a_worker_killed_in_the_middle_costs_nothing(classroom, pair, tmp_path):
    only(classroom, *FEW)
    alone = shutil.copytree(classroom, tmp_path / "alone")
    settings = alone / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace(str(classroom), str(alone)))
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    killed = []

    def kill_a_busy_worker(_outcome: object) -> None:
        if killed:
            return
        with connected(pair) as client:
            known = client.scheduler_info()["workers"]
            busy = [known[w]["id"] for w, tasks in client.processing().items() if tasks]
        if busy:  # or, failing that, at the next outcome
            killed.append(busy[0])
            pair.workers[busy[0]].send_signal(signal.SIGKILL)

    choice = Choice(with_feedback=False, scheduler=pair.address)
    chosen = list(folder.submissions(UNIT))
    outcomes = run_through(
        folder, graded_unit(UNIT, classroom), chosen, kill_a_busy_worker, choice
    )
    assert pair.workers[killed[0]].wait(PATIENCE) == -signal.SIGKILL
    pair.start_worker()
    assert [outcome.status for outcome in outcomes] == ["graded"] * len(FEW)
    assert scores(classroom) == {name: EXPECTED[name] for name in FEW}
    assert sorted(log(classroom)) == sorted((name, "graded") for name in FEW)
    assert grade(alone, "--no-feedback").exit_code == 0
    assert cells(alone) == cells(classroom)
    for name in FEW:
        assert checks(alone, name) == checks(classroom, name)


@pytest.mark.slow
def test_another_version_on_a_worker_is_refused(classroom, pair, monkeypatch):
    only(classroom, "perfect-one")
    ours = {**cluster_worker.facts(), "torch": "1.0"}
    monkeypatch.setattr(cluster, "our_facts", lambda: ours)
    done = grade(classroom, "--scheduler", pair.address)
    assert done.exit_code == 2
    said = done.output.replace("\n", " ")
    assert "worker tcp://127.0.0.1:" in said
    assert "where we have 1.0: install the same course and packages" in said
    monkeypatch.setattr(cluster.Cluster, "_require_equals", lambda self: None)
    late = grade(classroom, "--scheduler", pair.address)
    assert late.exit_code == 1
    assert "OtherVersions" in late.output


@pytest.mark.slow
def test_no_scheduler_and_no_worker_are_said(classroom, tmp_path, monkeypatch):
    only(classroom, "perfect-one")
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 3)
    address = f"tcp://127.0.0.1:{held_port()}"
    done = grade(classroom, "--scheduler", address)
    assert done.exit_code == 2
    assert f"no scheduler answers at {address}" in done.output
    assert "Traceback" not in done.output
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 15)  # to a running scheduler
    with running(tmp_path, 0) as machines:
        done = grade(classroom, "--scheduler", machines.address)
    assert done.exit_code == 2
    assert f"no worker is connected to {machines.address}" in done.output


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_the_run_and_keeps_what_is_done(
    classroom, tmp_path
):
    only(classroom, "perfect-one", "perfect-two", "mistake-1", "looping", "damaged")
    with running(tmp_path, 1) as machines:
        process = start(classroom, machines.address)
        until = time.monotonic() + PATIENCE
        audit = classroom / "grading" / "audit.jsonl"
        while not audit.exists():  # the second one loops, so there is time to kill it
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until, "nothing is graded"
            time.sleep(0.05)
        machines.scheduler.kill()
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, output
    assert "is gone" in output
    done = [student for student, status in log(classroom) if status == "graded"]
    assert done
    again = grade(classroom, "--no-feedback")
    assert again.exit_code == 0, (again.output, again.exception)
    for student in done:
        assert f"{student}: {EXPECTED[student]:g} of 70 as before" in again.output
    assert len(scores(classroom)) == 5


def start(root: Path, address: str) -> subprocess.Popen:
    paths = [str(Path(__file__).parents[3]), str(root / "solutions")]
    paths += [path for path in [os.environ.get("PYTHONPATH")] if path]
    command = [sys.executable, "-m", "autograder", "grade", "--no-feedback"]
    return subprocess.Popen(
        [*command, "--course-root", str(root), "--scheduler", address],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_without_the_package_the_command_says_what_to_install(classroom):
    only(classroom, "perfect-one")
    hide = "import sys; sys.modules['distributed'] = None; "
    run = "from autograder.commands.app import app; app()"
    arguments = ["grade", "--course-root", str(classroom), "--scheduler", "tcp://x:1"]
    done = subprocess.run(
        [sys.executable, "-c", hide + run, *arguments],
        env={**os.environ, "PYTHONPATH": str(classroom / "solutions")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert "needs the package distributed" in done.stderr
