"""Write the warnings and tracebacks of libraries to a file in the class's folder.

Instructors need not read this file, because nbgrader also raises each error that it
logs.
"""

import contextlib
import logging
from pathlib import Path

LOGGERS = ("py.warnings", "tornado.application")  # nbgrader uses the second logger


def log_of(root: Path) -> Path:
    """Return the path of the log file in a class's folder."""
    return root / "grading" / "warnings.log"


def log_warnings(root: Path) -> None:
    """Write warnings and the tracebacks that nbgrader logs to the log file."""
    logging.captureWarnings(True)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_LogFile(log_of(root))], False


class _LogFile(logging.Handler):
    """Append each message to a file, which is created with the first message."""

    def __init__(self, path: Path) -> None:
        """Store the path of the file."""
        super().__init__()
        self.path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message with its traceback; ignore errors when writing."""
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as log:
                log.write(f"{self.format(record)}\n")
