"""Tell how long a process wanted a processor that others had (Linux only)."""

NANOSECONDS = 1e9


def seconds_waited(process: int | str = "thread-self") -> float:
    """Return how long a process's first thread has waited for a processor.

    0 where nobody counts it, or if the process has ended. By default it is for the
    calling thread.
    """
    try:
        with open(f"/proc/{process}/schedstat") as file:
            return int(file.read().split()[1]) / NANOSECONDS
    except (OSError, ValueError, IndexError):
        return 0.0
