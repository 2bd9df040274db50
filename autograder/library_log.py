"""Keep what libraries say, and no instructor need read, in a file of the class."""

import contextlib
import logging
from pathlib import Path

LOG = "warnings.log"


def log_of(root: Path) -> Path:
    """Return the file, of a class's folder."""
    return root / "grading" / LOG


def append(path: Path, text: str) -> None:
    """Write to the end of a file; where that cannot be, to none."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(text)


class _File(logging.Handler):
    """Write each message to the end of a file."""

    def __init__(self, path: Path) -> None:
        """Say which file; it is made with the first message."""
        super().__init__()
        self.path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message, with its traceback."""
        append(self.path, f"{self.format(record)}\n")


def keep_tracebacks(root: Path) -> None:
    """Let the tracebacks that nbgrader logs go there: it raises these errors too."""
    logger = logging.getLogger("tornado.application")
    logger.handlers, logger.propagate = [_File(log_of(root))], False
