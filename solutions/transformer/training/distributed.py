"""Train one model with several processes that `torchrun` starts, or with only one.

Each process makes the same batches and computes the gradient for its share of the
sentences. PyTorch's `DistributedDataParallel` averages the gradients, so every process
takes the same step and has the same model.
"""

import os
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

LONGEST_WAIT = timedelta(hours=3)  # the first may read a large corpus


@dataclass(frozen=True)
class Processes:
    """Connect a process with the other processes that train the same model.

    For a single process, all methods leave the training unchanged.

    Attributes:
        rank: number of this process, from 0.
        count: number of processes that train the model.
        device: name of this process's device.
    """

    rank: int = 0
    count: int = 1
    device: str = "auto"

    @property
    def is_first(self) -> bool:
        """Return whether this process prints and saves."""
        return self.rank == 0

    def connect(self, model: nn.Module) -> nn.Module:
        """Return a module whose backward pass averages the processes' gradients."""
        if self.count == 1:
            return model
        return DistributedDataParallel(model)

    def share(self, rows: Tensor) -> tuple[Tensor, int]:
        """Return the rows that this process computes, and a factor for their loss.

        The factor is the number of processes, because averaging divides the sum of all
        gradients by it. All processes must take part in each step. If there are fewer
        rows than processes, some of them compute a row of another process with the
        factor 0.

        Args:
            rows: (b,) numbers of a batch's rows, the same in every process.
        """
        factor = self.count if self.rank < len(rows) else 0
        return rows[self.rank % len(rows) :: self.count], factor

    def exchange(self, model: nn.Module, now: bool) -> AbstractContextManager[None]:
        """Return a context that exchanges gradients now, or collects them for later."""
        if self.count == 1 or now:
            return nullcontext()
        return cast(DistributedDataParallel, model).no_sync()

    def sum(self, *numbers: float) -> list[float]:
        """Return the sum of each number over all processes."""
        if self.count == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.tolist()

    def seed_dropout(self, seed: int, epoch: int) -> None:
        """Seed each process's dropout differently, but equally in a repeated run."""
        if self.count > 1:
            draw = random.Random(f"{seed}/{epoch}/{self.rank}")
            torch.manual_seed(draw.getrandbits(63))

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """Let the first process run the block while the others wait for their turn."""
        if not self.is_first:
            self.sum(0)  # wait for the first process
        yield
        if self.is_first:
            self.sum(0)

    def leave(self) -> None:
        """Disconnect from the other processes."""
        if self.count > 1:
            distributed.destroy_process_group()


ALONE = Processes()


def join_processes(device: str) -> Processes:
    """Join the processes that `torchrun` has started, or return a single process.

    Args:
        device: "cpu" (exchanges gradients with gloo), "cuda" (one GPU for each process,
            exchanges gradients with NCCL), or "auto" for a GPU if there is one. A
            single process may use any device.

    Raises:
        ValueError: for another device, or if there are too few GPUs.
    """
    launched = distributed.is_torchelastic_launched()
    count = int(os.environ["WORLD_SIZE"]) if launched else 1
    if count == 1:
        return Processes(device=device)
    own = _own_device(device)
    distributed.init_process_group(
        "gloo" if own == "cpu" else "nccl", timeout=LONGEST_WAIT
    )
    return Processes(int(os.environ["RANK"]), count, own)


def _own_device(name: str) -> str:
    """Return the name of this process's device; each process has its own GPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise ValueError(
            "several processes train with --device cpu, or with --device cuda, where "
            f"each takes a GPU of its own: found {name!r}"
        )
    if name == "cpu":
        return name
    needed, there = int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count()
    if needed > there:
        raise ValueError(
            f"{needed} processes need {needed} GPUs, and this machine has {there}: "
            "start fewer with --nproc-per-node, or give --device cpu"
        )
    number = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(number)
    return f"cuda:{number}"
