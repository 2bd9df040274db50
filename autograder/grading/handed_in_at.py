"""Refuse a timestamp file that nbgrader could not read in a short time."""

from pathlib import Path

from autograder.phrases import Phrase
from autograder.repair import Refused
from autograder.unit import Submission

NAME = "timestamp.txt"
MAX_BYTES = 100  # a time such as 2026-03-01 23:59:59.123456 Europe/Berlin
STRANGE = Phrase("its {name} does not hold the time of handing in", NAME)


def refuse_strange_time(submission: Submission) -> None:
    """Check the timestamp files in a notebook's folder and its parent folders.

    Raises:
        Refused: if such a file is not a regular file, or is too long for a timestamp.
    """
    for folder in submission.path.parents:
        if folder.name == submission.student:
            break
        note = folder / NAME
        if note.exists() and not may_be_a_time(note):
            raise Refused(STRANGE)


def may_be_a_time(note: Path) -> bool:
    """Return whether a file is regular and short enough for a timestamp."""
    return note.is_file() and note.stat().st_size <= MAX_BYTES
