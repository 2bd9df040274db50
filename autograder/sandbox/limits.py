"""Define the limits of a submission (time, memory, output) and the device it uses."""

import os
from dataclasses import dataclass, replace

MIB = 1 << 20
CROWDED = 2.0  # processes that are ready to run, per core
MOST_PATIENCE = 4.0


@dataclass(frozen=True)
class Limits:
    """The limits of one submission.

    Attributes:
        cell_seconds: the limit for one cell. All times except `grader_seconds` are
            wall-clock time.
        exercise_seconds: the limit for all calls by one exercise's checks.
        submission_seconds: the limit for the whole submission.
        memory_bytes: private memory of each process.
        total_bytes: memory of all processes together, without files (Linux only).
        folder_bytes: the size of the working folder.
        processes: the maximum number of processes and threads.
        reply_bytes: the size of the tensors in one answer.
        output_characters: the output of all cells together.
        grader_seconds: processor time of each grader process that reads, checks or
            shows the submission. There are usually three.
        grader_bytes: the memory that each of these processes may use for it.
        device: PyTorch's name of the device for the tensors and modules of the checks,
            such as "cuda".
    """

    cell_seconds: float = 20.0
    exercise_seconds: float = 20.0
    submission_seconds: float = 90.0
    memory_bytes: int = 2048 * MIB
    total_bytes: int = 4096 * MIB
    folder_bytes: int = 64 * MIB
    processes: int = 24
    reply_bytes: int = 64 * MIB
    output_characters: int = 1_000_000
    grader_seconds: float = 60.0
    grader_bytes: int = 1536 * MIB
    device: str = "cpu"

    def on_this_machine(self) -> "Limits":
        """Return limits with more time if the machine is overloaded.

        The limits count wall-clock time, and correct code takes longer on an overloaded
        machine. They are rounded to one decimal because students see them.
        """
        patience = crowding()
        return replace(
            self,
            cell_seconds=round(self.cell_seconds * patience, 1),
            exercise_seconds=round(self.exercise_seconds * patience, 1),
            submission_seconds=round(self.submission_seconds * patience, 1),
        )

    def resource_limits(self) -> dict[str, int]:
        """Return the limits that the child sets on itself before it runs any code."""
        return {
            "DATA": self.memory_bytes,
            "NPROC": self.processes,
            "FSIZE": self.folder_bytes,
            "NOFILE": 128,
            "CORE": 0,
        }


def crowding() -> float:
    """Return a factor from 1 to 4: how much slower than usual the machine is now."""
    try:
        waiting = os.getloadavg()[0]
    except (OSError, AttributeError):  # Windows has no load average
        return 1.0
    return min(max(waiting / (CROWDED * (os.cpu_count() or 1)), 1.0), MOST_PATIENCE)
