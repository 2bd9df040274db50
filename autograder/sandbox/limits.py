"""What a submission may use: time, memory, output, and on which device it runs."""

import os
from dataclasses import dataclass, replace

MIB = 1 << 20
CROWDED = 2.0  # processes that want to run, for each core
MOST_PATIENCE = 4.0


@dataclass(frozen=True)
class Limits:
    """The limits of one submission; seconds are of wall-clock time but for one.

    Attributes:
        cell_seconds: for one cell.
        exercise_seconds: for the calls of one exercise's checks together.
        submission_seconds: for everything together.
        memory_bytes: private memory of each process.
        total_bytes: memory of all processes together, outside of files; on Linux.
        folder_bytes: the working folder.
        processes: how many processes and threads there may be.
        reply_bytes: the tensors of one answer.
        output_characters: what all cells together may print and show.
        grader_seconds: processor time of each process of the grader's that reads,
            checks or shows it; usual are three.
        grader_bytes: what each of these processes may hold for it.
        device: where the checks' tensors and the modules that they make go, such as
            "cuda"; PyTorch's name.
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
        """Return limits with more time where the machine has too much to do.

        Seconds are of wall-clock time: on a crowded machine right code needs more. They
        are told to students, so they are of one decimal.
        """
        patience = crowding()
        return replace(
            self,
            cell_seconds=round(self.cell_seconds * patience, 1),
            exercise_seconds=round(self.exercise_seconds * patience, 1),
            submission_seconds=round(self.submission_seconds * patience, 1),
        )

    def resource_limits(self) -> dict[str, int]:
        """Return what the child sets on itself before it runs anything."""
        return {
            "DATA": self.memory_bytes,
            "NPROC": self.processes,
            "FSIZE": self.folder_bytes,
            "NOFILE": 128,
            "CORE": 0,
        }


def crowding() -> float:
    """Say how many times longer everything may take here now: 1 to 4."""
    try:
        waiting = os.getloadavg()[0]
    except (OSError, AttributeError):  # Windows knows no such number
        return 1.0
    return min(max(waiting / (CROWDED * (os.cpu_count() or 1)), 1.0), MOST_PATIENCE)
