"""Grade one submission, and write its outcome through nbgrader."""

import contextlib
import re
import shutil
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.utils import capture_log
from sqlalchemy.exc import SAWarning
from traitlets import Any as AnyTrait

from autograder.classroom.folder import ClassFolder, Submission
from autograder.grading.submission import Graded, grade
from autograder.nbgrader_steps.autograde import clear_scores, keep_repair, keep_results
from autograder.nbgrader_steps.student_names import refuse_unsafe_name
from autograder.repair import Refused, read_submission, rebuild
from autograder.sandbox.limits import Limits
from autograder.sandbox.warm_parent import WarmParent
from autograder.unit import GradedUnit

Status = Literal["graded", "refused", "failed"]
MAX_REASON = 300


@dataclass
class Outcome:
    """What became of one submission.

    Attributes:
        submission: whose it is.
        status: "graded"; "refused": it cannot be graded; "failed": the grader's fault.
        reason: why it was refused or failed.
        notebook: the rebuilt notebook with scores and reports.
        graded: the checks' results.
        notes: what was repaired.
        doubtful: what a human should look at.
        seconds: how long it took.
        is_kept: whether it was graded before, and nothing has changed since.
    """

    submission: Submission
    status: Status
    reason: str = ""
    notebook: NotebookNode | None = None
    graded: Graded | None = None
    notes: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_kept: bool = False


class WriteOutcome(Autograde):
    """nbgrader's own autograding, with the outcome already known."""

    outcome = AnyTrait()


def grade_one(
    unit: GradedUnit,
    submission: Submission,
    parent: WarmParent,
    limits: Limits | None = None,
) -> Outcome:
    """Read, repair, run and check one submission; nothing is written anywhere."""
    started = time.monotonic()
    try:
        outcome = _grade(unit, submission, parent, limits)
    except Refused as refused:
        outcome = Outcome(submission, "refused", str(refused)[:MAX_REASON])
    except FileNotFoundError:
        words = f"there is no notebook {submission.path.name} in what was handed in"
        outcome = Outcome(submission, "refused", words)
    except Exception as error:  # one submission must not stop the class
        words = f"{type(error).__name__}: {error}"[:MAX_REASON]
        outcome = Outcome(submission, "failed", words)
    outcome.seconds = time.monotonic() - started
    return outcome


def _grade(
    unit: GradedUnit,
    submission: Submission,
    parent: WarmParent,
    limits: Limits | None,
) -> Outcome:
    refuse_unsafe_name(submission.student)
    if submission.is_in_linked_folder:
        raise Refused("its folder is a link: hand the notebook itself in")
    repaired = rebuild(unit, read_submission(submission.path))
    graded = grade(unit, repaired, submission.student, parent, limits)
    keep_repair(repaired)
    keep_results(repaired.notebook, graded)
    outcome = Outcome(submission, "graded", graded.problem or "")
    if graded.problem:
        outcome.status = "failed"
    outcome.notebook, outcome.graded = repaired.notebook, graded
    outcome.notes, outcome.doubtful = repaired.notes, repaired.doubtful
    return outcome


def write(folder: ClassFolder, outcome: Outcome) -> None:
    """Write an outcome into gradebook and files; a failure becomes the outcome's."""
    submission = outcome.submission
    if outcome.notebook is None:
        take_back(folder, submission)
        return
    with _in_place(folder, submission):
        _write_notebook(folder, outcome)


def take_back(folder: ClassFolder, submission: Submission) -> None:
    """Leave no score and no page of an earlier grading."""
    folder.remove_written(submission)
    clear_scores(submission.slug, submission.student, folder.db_url)


def _write_notebook(folder: ClassFolder, outcome: Outcome) -> None:
    submission = outcome.submission
    folder.coursedir.assignment_id = submission.slug
    folder.coursedir.student_id = submission.student
    app = WriteOutcome(coursedir=folder.coursedir, config=folder.config)
    app.outcome = outcome
    app.force = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own, harmless
        done = capture_log(app)
    if not done["success"]:
        outcome.status = "failed"
        outcome.reason = _last_line(done.get("log") or done["error"])
        take_back(folder, submission)


def _last_line(text: str) -> str:
    lines = [line for line in re.split(r"\r?\n", text) if re.search(r"Error|:", line)]
    return lines[-1][:MAX_REASON] if lines else "nbgrader did not say why"


@contextlib.contextmanager
def _in_place(folder: ClassFolder, submission: Submission) -> Iterator[None]:
    """Have a notebook of another name, or one that lies deeper, where nbgrader looks.

    Afterwards the copy is gone: it would hide what is handed in later.
    """
    submitted = folder.root / folder.coursedir.submitted_directory
    home = submitted / submission.student / submission.slug
    expected = home / f"{submission.slug}.ipynb"
    is_elsewhere = not expected.exists()
    if is_elsewhere:
        shutil.copyfile(submission.path, expected)
    try:
        yield
    finally:
        if is_elsewhere:
            expected.unlink(missing_ok=True)


def scores_in_gradebook(db_url: str, slug: str) -> dict[str, float]:
    """Return each student's score of a unit as the gradebook has it."""
    with Gradebook(db_url) as gradebook:
        submissions = gradebook.assignment_submissions(slug)
        return {item.student.id: item.score for item in submissions}
