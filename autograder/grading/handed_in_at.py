"""The time of handing in, which is noted in a file beside the notebook."""

from datetime import datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.repair import Refused
from autograder.unit import Submission

NAME = "timestamp.txt"
MAX_BYTES = 100  # such as 2026-03-01 23:59:59.123456 Europe/Berlin
STRANGE = f"its {NAME} does not hold the time of handing in"


def refuse_strange_time(submission: Submission) -> None:
    """Look at the time that is noted beside a notebook, and in the folders above it.

    Raises:
        Refused: if it is no file, or too long for a time.
    """
    for folder in submission.path.parents:
        if folder.name == submission.student:
            break
        note = folder / NAME
        if note.exists() and not _may_be_a_time(note):
            raise Refused(STRANGE)


def _may_be_a_time(note: Path) -> bool:
    return note.is_file() and note.stat().st_size <= MAX_BYTES


def time_in(folder: Path) -> datetime | None:
    """Return the time in UTC that is noted in a submission's folder, if one is.

    Raises:
        ValueError: if it is no time.
    """
    try:
        text = (folder / NAME).read_text(encoding="utf-8").strip()
        return parse_utc(text) if text else None
    except FileNotFoundError:
        return None
    except (ValueError, OverflowError):
        raise ValueError(STRANGE) from None
