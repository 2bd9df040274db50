"""Grade one submission: read, repair, run and check it, and write its scores."""

import contextlib
import re
import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from nbformat import NotebookNode

from autograder.grading.earlier_exercises import point_to_earlier
from autograder.grading.feedback_table import graded_outputs
from autograder.grading.handed_in_at import refuse_strange_time
from autograder.grading.outcome import MAX_REASON, RECORD, Outcome, as_record
from autograder.grading.outputs import safe_outputs
from autograder.grading.own_unit import rebuild_as_own
from autograder.grading.points import nothing_run, run_checks
from autograder.grading.student_names import refuse_unsafe_name
from autograder.phrases import Phrase
from autograder.repair import Refused, SubmittedCell, read_submission
from autograder.repair.finding import other_notebooks
from autograder.sandbox.control_channel import NoParent
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.sandbox.kit import folder_files, label_of, warm_kit
from autograder.sandbox.limits import Limits
from autograder.sandbox.prestart import own_parent
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import (
    CHECK_SUFFIX,
    GradedUnit,
    Submission,
    cells_to_run,
    is_graded_code,
    is_run,
    our_answers,
)

ATTEMPTS = 2
LOOKS_INSIDE = re.compile(
    r"\b(?:student_side|ctypes|sys\.modules|_getframe|getsource|"
    r"gc\.get_\w+|from gc import|torch\._[A-Za-z]\w*)\b"
)


def grade_submission(
    unit: GradedUnit,
    submission: Submission,
    limits: Limits | None = None,
    parent: ForkServerClient | None = None,
) -> Outcome:
    """Read, repair, run and check one submission, without writing any file.

    Args:
        unit: the unit with the checks.
        submission: the student's submission.
        limits: the limits on time, memory and output.
        parent: the parent that forks the children; by default this process's own.

    Returns:
        The outcome. This function returns one even after an error, because one
        submission must not stop the grading of the class.
    """
    started = time.monotonic()
    try:
        outcome = read_and_repair(unit, submission)
        check(unit, outcome, parent or shared_parent(), limits)
    except Refused as refused:
        outcome = Outcome(submission, "refused", refused.reason)
    except FileNotFoundError:
        outcome = Outcome(
            submission,
            "refused",
            Phrase(
                "the submission contains no notebook {name}",
                submission.path.name,
            ),
        )
    except NoParent as error:
        outcome = Outcome(submission, "failed", error.reason)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:MAX_REASON]
        outcome = Outcome(submission, "failed", words)
    outcome.seconds = time.monotonic() - started
    return outcome


def read_and_repair(unit: GradedUnit, submission: Submission) -> Outcome:
    """Repair a submission; if it has several notebooks, use one with answers.

    Normally, the notebook with the unit's name is used. If it is unchanged or cannot be
    read, the most recent other notebook with answers is used, and a note says so.

    Raises:
        Refused: if no notebook can be graded.
    """
    own = submission.path.name
    refused: Refused | None = None
    try:
        outcome = repair(unit, submission, _read(submission))
        if not set(unit.points) <= outcome.unwritten:
            return outcome
    except Refused as error:
        refused = error
    for path in other_notebooks(submission.path):
        with contextlib.suppress(Refused, OSError):
            cells = _read(replace(submission, path=path))
            note = (
                Phrase("{copy} counts, because {own} cannot be read", path.name, own)
                if refused
                else Phrase(
                    "{copy} counts, because {own} is unchanged",
                    path.name,
                    own,
                )
            )
            other = repair(unit, submission, cells, [note])
            if not set(unit.points) <= other.unwritten:
                return other
    if refused is not None:
        raise refused
    return outcome


def _read(submission: Submission) -> list[SubmittedCell]:
    """Read the cells of a submission.

    Raises:
        Refused: if it is not a notebook, or its path contains a link.
    """
    refuse_unsafe_name(submission.student)
    refuse_strange_time(submission)
    if submission.is_in_linked_folder:
        raise Refused(Phrase("its folder is a link: hand in the notebook itself"))
    return read_submission(submission.path)


def repair(
    unit: GradedUnit,
    submission: Submission,
    cells: Sequence[SubmittedCell],
    notes: Sequence[str] = (),
) -> Outcome:
    """Rebuild a submission on the notebook released in its language; run nothing.

    `notes` lists changes that were already made to the submission.

    Raises:
        Refused: if it contains no answers, or only answers of another unit.
    """
    repaired = rebuild_as_own(unit, cells)
    outcome = Outcome(
        submission,
        notebook=repaired.notebook,
        notes=[*notes, *repaired.notes],
        doubtful=[*repaired.doubtful, *_looks_inside(repaired.notebook)],
        unwritten=repaired.unwritten,
    )
    repaired.notebook.metadata[RECORD] = as_record(outcome)
    return outcome


def _looks_inside(notebook: NotebookNode) -> list[str]:
    """List the words in a student's code that are used to inspect its process."""
    found = {w for cell in cells_to_run(notebook) for w in LOOKS_INSIDE.findall(cell)}
    words = ", ".join(sorted(found))
    return [Phrase("its code names {words}: read it", words)] if words else []


def check(
    unit: GradedUnit,
    outcome: Outcome,
    parent: ForkServerClient,
    limits: Limits | None = None,
) -> None:
    """Run the hidden checks of `unit` on a repaired submission.

    Every check gets a result, even after an error. A check that did not run earns no
    points. If the parent is lost, it is restarted, and the submission runs once more.
    """
    started = time.monotonic()
    outcome.sandbox = parent.sandbox
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            _run(unit, outcome, parent, limits)
            break
        except NoParent as error:
            problem = error.reason
            with contextlib.suppress(NoParent):  # the next attempt reports a failure
                parent.restart()
    else:
        fail(unit, outcome, problem)
    outcome.seconds = time.monotonic() - started
    write_results(outcome)


def _run(
    unit: GradedUnit,
    outcome: Outcome,
    parent: ForkServerClient,
    limits: Limits | None,
) -> None:
    """Run the cells in child processes and check their definitions.

    Raises:
        NoParent: if the parent is lost.
    """
    notebook, files = notebook_of(outcome), folder_files(unit.kit)
    ours = our_answers(unit.answers, notebook)
    students = SubmissionRunner(parent, cells_to_run(notebook), files, limits, ours)
    warm_up(unit, files, parent)
    with students:
        results = run_checks(unit, students, unwritten=outcome.unwritten)
    outcome.results = point_to_earlier(results, notebook)
    outcome.runs, outcome.limits_hit = students.runs, students.limits_hit
    outcome.was_held_up = students.was_held_up


def fail(unit: GradedUnit, outcome: Outcome, problem: str) -> None:
    """Record that the grader could not run the submission; it earns no points."""
    outcome.status, outcome.reason = "failed", problem
    outcome.results, outcome.runs, outcome.limits_hit = nothing_run(unit), [], []


def shared_parent() -> ForkServerClient:
    """Return this process's pre-warmed parent, which ends when this process ends.

    Raises:
        NoParent: if it does not start.
    """
    torch.set_num_threads(1)
    return own_parent()


def warm_up(
    unit: GradedUnit, files: dict[str, bytes], parent: ForkServerClient
) -> None:
    """Make the parent import the modules that every submission of a unit imports."""
    if parent.kit != label_of(files):
        parent.warm(warm_kit(unit.kit, cells_to_run(unit.released), files))


def write_results(outcome: Outcome) -> None:
    """Write scores, reports and outputs into the cells of the repaired notebook.

    Every graded cell gets exactly the grader's outputs, because nbgrader would give
    full marks to a cell without output. The record of the outcome is stored in the
    notebook's metadata.
    """
    notebook, runs = notebook_of(outcome), iter(outcome.runs)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        if is_graded_code(cell):
            exercise = cell.metadata.nbgrader.grade_id.removesuffix(CHECK_SUFFIX)
            own = [r for r in outcome.results if r.exercise == exercise]
            cell.outputs = graded_outputs(own)
        elif is_run(cell):
            run = next(runs, None)
            cell.outputs = safe_outputs(run) if run is not None else []
    notebook.metadata[RECORD] = as_record(outcome)


def notebook_of(outcome: Outcome) -> NotebookNode:
    """Return the notebook of a submission that was not refused.

    Raises:
        ValueError: if it has no notebook.
    """
    if outcome.notebook is None:
        raise ValueError(f"{outcome.submission.student} has no rebuilt notebook")
    return outcome.notebook
