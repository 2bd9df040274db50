"""Check the command line in several processes, as torchrun starts them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import losses, run

PROCESSES = Path("/proc")
KOREAN = Path(__file__).parent / "own_files" / "korean_english"
TWO = [
    *("-m", "torch.distributed.run", "--standalone"),
    *("--local-addr", "localhost"),  # a machine's own name may have no address
    *("--nproc-per-node", "2"),
]
SMALL = ["--config", "tiny", "--subwords", 600, "--epoch-steps", 4, "--device", "cpu"]
PATIENCE = 900  # seconds: only hanging fails, not slowness

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not PROCESSES.is_dir(), reason="looks for them in /proc"),
]


def files() -> list:
    train, valid = (
        [KOREAN / f"{part}.{side}" for side in ("ko", "en")]
        for part in ("train", "valid")
    )
    named = ["--data", "files", "--src", train[0], "--tgt", train[1]]
    return [*named, "--valid", *valid]


@contextlib.contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen]:
    """Train in two processes, with a time limit."""
    command = [sys.executable, *TWO, "-m", "transformer", "train", *arguments]
    with subprocess.Popen(
        list(map(str, command)),
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()  # torchrun then ends the others


def wait_until(happened: Callable[[], bool], process: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.02)


def workers(torchrun: subprocess.Popen) -> dict[int, int]:
    """Return the ids of torchrun's processes by their ranks."""
    found = {}
    tasks = PROCESSES / str(torchrun.pid) / "task"
    for children in tasks.glob("*/children"):
        for child in children.read_text().split():
            environment: list[bytes] = []
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # ended
                environment = (PROCESSES / child / "environ").read_bytes().split(b"\0")
            known = dict(line.split(b"=", 1) for line in environment if line)
            if b"RANK" in known:
                found[int(known[b"RANK"])] = int(child)
    return found


def ended(torchrun: subprocess.Popen) -> tuple[list[str], str]:
    """Wait for the end, and return our processes' printed lines, and the errors."""
    output, errors = torchrun.communicate(timeout=PATIENCE)
    assert torchrun.returncode != 0
    assert "transformer/cli" not in errors  # the traceback is torchrun's own
    return output.splitlines(), errors


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_all_and_the_run_goes_on(tmp_path, rank):
    last = tmp_path / "last.pt"
    with started(*files(), *SMALL, "--epochs", 10_000, "--out", tmp_path) as torchrun:
        wait_until(last.exists, torchrun)
        os.kill(workers(torchrun)[rank], signal.SIGKILL)
        lines, errors = ended(torchrun)
    stopped = "stopped, as torchrun was or another of the 2 processes; the last whole"
    assert sum(stopped in line for line in lines) == 1, errors
    assert sum("on cpu, shared by 2 processes" in line for line in lines) == 1
    epochs = len(losses(tmp_path))
    assert sum(line.startswith("epoch ") for line in lines) in (epochs, epochs - 1)
    more = ["--resume", "--epochs", epochs + 1, "--out", tmp_path]
    output = run("train", *files(), *SMALL, *more)
    assert f"going on after epoch {epochs}" in output
    assert len(losses(tmp_path)) == epochs + 1


@pytest.mark.slow
def test_a_process_that_waits_for_one_that_hangs_can_be_ended(tmp_path):
    with started(*files(), *SMALL, "--epochs", 10_000, "--out", tmp_path) as torchrun:
        wait_until((tmp_path / "last.pt").exists, torchrun)
        first, second = (workers(torchrun)[rank] for rank in (0, 1))
        os.kill(second, signal.SIGSTOP)
        time.sleep(2)  # the first process waits for its gradient
        os.kill(first, signal.SIGTERM)
        wait_until(lambda: 0 not in workers(torchrun), torchrun)
        os.kill(second, signal.SIGKILL)
        lines, _ = ended(torchrun)
    assert sum("stopped, as torchrun was" in line for line in lines) == 1


@pytest.mark.slow
def test_what_the_first_refuses_ends_all(tmp_path):
    broken = tmp_path / "train.ko"
    broken.write_bytes((KOREAN / "train.ko").read_bytes() + b"\n")
    arguments = files()
    arguments[3] = broken
    with started(*arguments, *SMALL, "--out", tmp_path / "run") as torchrun:
        lines, errors = ended(torchrun)
    said = [line for line in errors.splitlines() if line.startswith("Error: ")]
    assert len(said) == 1, errors
    assert "train.ko, line 161: expected a sentence" in said[0]
    assert not any("stopped, as torchrun" in line for line in lines)
    assert not (tmp_path / "run").exists()


def test_what_all_refuse_one_says(tmp_path):
    with started("--device", "mps", "--out", tmp_path / "new") as torchrun:
        _, errors = ended(torchrun)
    assert errors.count("Error: several processes train with --device cpu") == 1
    assert not (tmp_path / "new").exists()
