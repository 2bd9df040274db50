"""Log each submission as a line of JSON: who graded it, and with which result."""

import getpass
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.classroom.fingerprint import versions
from autograder.classroom.folder import grading_folder
from autograder.grading.outcome import Outcome
from autograder.phrases import with_templates
from autograder.unit import course_of

NAME = "audit.jsonl"


class AuditLog:
    """Append to the audit log of a class, `grading/audit.jsonl`; change no old line."""

    def __init__(self, root: Path):
        """Open the log of the class in `root`."""
        self.path = grading_folder(root) / NAME
        self._facts = {
            "by": _user(),
            "host": socket.gethostname(),
            "process": os.getpid(),
            "versions": versions(),
            "seed": course_of(root).draw_number,
        }

    def add(self, outcome: Outcome, submission_hash: str, unit_hash: str) -> None:
        """Add a line for one submission.

        The line is written in one step, even if several runs write at the same time.
        """
        facts = {
            "when": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "unit": outcome.submission.slug,
            "student": outcome.submission.student,
            "status": "kept" if outcome.is_kept else outcome.status,
            "reason": outcome.reason,
            **_of_results(outcome),
            "repair": outcome.notes,
            "doubtful": outcome.doubtful,
            "seconds": round(outcome.seconds, 3),
            "sandbox": outcome.sandbox,
            "hashes": {"submission": submission_hash, "unit": unit_hash},
            **self._facts,
        }
        line = json.dumps(with_templates(facts))
        self._append(line.encode() + b"\n")

    def _append(self, line: bytes) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
                if os.read(descriptor, 1) != b"\n":  # a run was killed within a line
                    line = b"\n" + line
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _of_results(outcome: Outcome) -> dict[str, Any]:
    has_results = bool(outcome.results)
    return {
        "score": outcome.score if has_results else None,
        "max_score": outcome.max_score if has_results else None,
        "scores": outcome.scores,
        "limits_hit": outcome.limits_hit,
    }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return str(os.getuid())
