"""Several processes train like one: two processes, started by torchrun."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import shared_runs
import torch
from shared_runs import ONE_EPOCH, SURE, follow, trainers
from small_runs import make_trainer

from transformer.training.config import TrainingConfig
from transformer.training.distributed import ALONE, Processes, join_processes
from transformer.training.loop import step_function

TWO = [
    *("-m", "torch.distributed.run", "--standalone"),
    *("--local-addr", "localhost"),  # a machine's own name may have no address
    *("--nproc-per-node", "2"),
]
KINDS = ("plain", "parts", "compiled", "clipped", "one sentence at the end", "tied")


@pytest.fixture(scope="module")
def together(tmp_path_factory) -> tuple[Path, list[dict]]:
    """Train in two processes, and return the folder and the results of each."""
    folder = tmp_path_factory.mktemp("together")
    make_trainer(folder / "alone", ONE_EPOCH, **SURE).run()
    command = [sys.executable, *TWO, shared_runs.__file__, folder]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        list(map(str, command)),
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert ended.returncode == 0, ended.stderr
    return folder, [json.loads((folder / f"{n}.json").read_text()) for n in (0, 1)]


@pytest.fixture(scope="module")
def alone() -> dict[str, list[float]]:
    """Train in this process only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
        return {name: follow(trainer) for name, trainer in trainers().items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch's own
@pytest.mark.parametrize("kind", [*KINDS, "recurrent"])
def test_two_processes_have_the_losses_of_one(together, alone, kind):
    _, found = together
    assert len(alone[kind]) > 20
    assert found[0][kind] == pytest.approx(alone[kind], abs=1e-5)
    assert found[1][kind] == found[0][kind]
    assert found[1]["differing"][kind] == []


@pytest.mark.slow
def test_one_of_them_saves(together):
    folder, _ = together
    assert {path.name for path in (folder / "by 0").iterdir()} == {"last.pt", "best.pt"}
    assert not (folder / "by 1").exists()


def valid(history: list[dict[str, float]]) -> list[float]:
    return [record["valid_loss"] for record in history]


@pytest.mark.slow
def test_one_goes_on_where_two_stopped_and_two_where_one_did(together, alone):
    folder, found = together
    trainer = make_trainer(folder / "by 0", **SURE)
    trainer.resume()
    assert valid(trainer.run()) == pytest.approx(alone["plain"][-3:], abs=1e-5)
    begun_alone = valid(found[0]["begun alone"])
    assert begun_alone == pytest.approx(alone["plain"][-3:], abs=1e-5)


@pytest.mark.slow
def test_stopped_processes_go_on_with_the_same_dropout(together):
    for found in together[1]:
        whole = [record["train_loss"] for record in found["with dropout"]]
        assert [record["train_loss"] for record in found["stopped"]] == whole


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("sentences", [1, 2, 7, 8])
def test_every_sentence_counts_once(count, sentences):
    rows = torch.arange(sentences) + 100
    shares = [Processes(rank, count).share(rows) for rank in range(count)]
    assert all(len(own) for own, _ in shares)
    counted = [int(row) for own, factor in shares for row in own if factor]
    assert sorted(counted) == rows.tolist()
    assert {factor for _, factor in shares} <= {0, count}


@pytest.mark.parametrize(("count", "parts"), [(2, 4), (3, 3), (8, 1), (9, 1)])
def test_processes_share_the_parts(count, parts):
    step = step_function(TrainingConfig(accumulate=8), "cuda", Processes(1, count))
    assert step.keywords == {"parts": parts, "processes": Processes(1, count)}


def test_each_process_drops_other_units_and_can_be_repeated():
    drawn = {}
    for _ in range(2):
        for place in [(0, 0, 1), (0, 1, 1), (1, 0, 1), (0, 0, 2)]:
            epoch, rank, seed = place
            Processes(rank, 2).seed_dropout(seed, epoch)
            number = torch.rand(()).item()
            assert drawn.setdefault(place, number) == number
    assert len(set(drawn.values())) == 4
    torch.manual_seed(7)
    expected = torch.rand(())
    torch.manual_seed(7)
    ALONE.seed_dropout(1, 0)
    assert torch.rand(()) == expected


@pytest.fixture
def launched(monkeypatch):
    """Make this process the second of three that torchrun started."""
    names = {"RANK": 1, "LOCAL_RANK": 1, "WORLD_SIZE": 3, "LOCAL_WORLD_SIZE": 3}
    for name, value in {"TORCHELASTIC_RUN_ID": "a", **names}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda *_, **__: None)
    return monkeypatch


@pytest.mark.parametrize("device", ["mps", "cuda:1", "no such"])
def test_a_device_that_cannot_be_shared_is_refused(launched, device):
    with pytest.raises(ValueError, match=f"--device cuda, .* found '{device}'"):
        join_processes(device)


def pretend_gpus(monkeypatch, count: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "set_device", lambda number: None)


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_each_process_has_a_gpu_or_all_are_refused(launched, device):
    pretend_gpus(launched, 3)
    assert join_processes(device) == Processes(1, 3, "cuda:1")
    pretend_gpus(launched, 2)
    with pytest.raises(
        ValueError, match=r"3 processes need 3 GPUs, .* has 2: start fewer"
    ):
        join_processes(device)
    assert join_processes("cpu") == Processes(1, 3, "cpu")


def test_without_torchrun_a_process_is_alone(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert join_processes("mps") == Processes(0, 1, "mps")
