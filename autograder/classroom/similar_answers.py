"""Read the answers that will be compared, in a separate process with limits.

A student may submit anything: a link, a device, or a number with a million digits. If
reading fails or takes too long, only this submission is left out, and the report lists
it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from nbformat import NotebookNode

from autograder.classroom.similarity import MAX_TOKENS, tokens_of
from autograder.classroom.worker_process import WorkerProcess, begin_working, limited
from autograder.grading.language import in_language_of
from autograder.repair import Refused, read_submission, rebuild
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission

PATIENCE = 300.0  # seconds even on a busy machine; `limited` counts processor time
LIMITS = Limits(grader_seconds=20)
TOO_LONG = "reading it took too long"
NO_MEMORY = "reading it needs too much memory"


@dataclass(frozen=True)
class ReadAnswers:
    """Hold the parts of one submission that are compared.

    Attributes:
        digest: the digest of the file.
        is_untouched: whether every answer is as in the released notebook.
        tokens: for each exercise, the tokens of its answer.
        failure: why the submission could not be read, or "".
    """

    digest: str = ""
    is_untouched: bool = False
    tokens: dict[str, list[str]] = field(default_factory=dict)
    failure: str = ""


def read_answers(
    unit: GradedUnit, submissions: Iterable[Submission], patience: float = PATIENCE
) -> dict[str, ReadAnswers]:
    """Return each student's answers, or the reason why they cannot be read."""
    found: dict[str, ReadAnswers] = {}
    worker: WorkerProcess | None = None
    try:
        for submission in submissions:
            worker = worker or WorkerProcess(_serve, unit)
            answers = _ask(worker, submission, patience)
            if answers is None:
                worker.end(0)
                worker, answers = None, ReadAnswers(failure=TOO_LONG)
            found[submission.student] = answers
    finally:
        if worker is not None:
            worker.end(1)
    return found


def _ask(
    worker: WorkerProcess, submission: Submission, patience: float
) -> ReadAnswers | None:
    """Return the process's reply, or None if the process has ended or is too slow."""
    try:
        worker.connection.send(submission)
        return worker.connection.recv() if worker.connection.poll(patience) else None
    except (EOFError, OSError):
        return None


def _serve(connection: Connection, unit: GradedUnit) -> None:
    """Read each submission that arrives over `connection` until it closes."""
    begin_working()
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # `limited` stops conversions that take long
    given = sources_in(unit.released, unit)
    try:
        while True:
            submission = connection.recv()
            with limited(LIMITS):
                answers = _read(unit, submission.path, given)
            connection.send(answers)
    except (EOFError, OSError):
        pass  # all submissions are read, or the parent process has ended
    finally:
        connection.close()


def _read(unit: GradedUnit, path: Path, given: dict[str, str]) -> ReadAnswers:
    try:
        cells = read_submission(path)
        repaired = rebuild(in_language_of(unit, cells), cells)
        sources = sources_in(repaired.notebook, unit)
        tokens = {name: tokens_of(sources[name], given[name]) for name in sources}
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except Refused as refused:
        return ReadAnswers(failure=refused.reason)
    except MemoryError:
        return ReadAnswers(failure=NO_MEMORY)
    except Exception as error:  # one student's file must not stop the others
        return ReadAnswers(failure=f"{type(error).__name__} while reading it")
    if long := next((name for name in tokens if len(tokens[name]) > MAX_TOKENS), ""):
        return ReadAnswers(failure=f"its answer to {long} is too long to compare")
    is_untouched = set(unit.points) <= repaired.unwritten
    return ReadAnswers(digest, is_untouched, tokens)


def sources_in(notebook: NotebookNode, unit: GradedUnit) -> dict[str, str]:
    """Return the source of each exercise's answer in a notebook."""
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") in unit.points
    }
