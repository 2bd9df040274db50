"""How much time, memory and output a submission may use."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one submission; seconds are of wall-clock time.

    Attributes:
        cell_seconds: For one cell.
        exercise_seconds: For the calls of one exercise's checks together.
        submission_seconds: For everything together.
        memory_bytes: Private memory of each process.
        folder_bytes: The working folder.
        processes: How many processes and threads there may be.
        reply_bytes: The tensors of one answer.
        output_characters: What all cells together may print and show.
    """

    cell_seconds: float = 20.0
    exercise_seconds: float = 20.0
    submission_seconds: float = 90.0
    memory_bytes: int = 2048 * MIB
    folder_bytes: int = 64 * MIB
    processes: int = 64
    reply_bytes: int = 64 * MIB
    output_characters: int = 1_000_000

    def resource_limits(self) -> dict[str, int]:
        """Return what the child sets on itself before it runs anything."""
        return {
            "DATA": self.memory_bytes,
            "NPROC": self.processes,
            "FSIZE": self.folder_bytes,
            "NOFILE": 256,
            "CORE": 0,
        }
