"""Write the outcome of a submission through nbgrader, into gradebook and files."""

import contextlib
import functools
import json
import re
import shutil
import warnings
from collections.abc import Iterator

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.utils import capture_log
from sqlalchemy.exc import SAWarning
from traitlets import Any as AnyTrait

from autograder.classroom.folder import ClassFolder
from autograder.classroom.marks import Marks, marks_of
from autograder.grading.outcome import Outcome
from autograder.grading.submission import MAX_REASON, notebook_of
from autograder.nbgrader_steps.autograde import clear_scores
from autograder.nbgrader_steps.feedback_pages import FeedbackPages
from autograder.nbgrader_steps.one_gradebook import one_gradebook
from autograder.unit import Submission


class WriteOutcome(Autograde):
    """nbgrader's own autograding, with the outcome already known."""

    outcome = AnyTrait()

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Take all of nbgrader's steps in their order, and write the notebook once.

        nbgrader would write it half-way, read it again, and look after each step
        whether it is one.
        """
        resources = self.init_single_notebook_resources(notebook_filename)
        resources["output_extension"] = self.exporter.file_extension
        notebook = notebook_of(self.outcome)
        for step in self._steps:
            notebook, resources = step(notebook, resources)
        nbformat.validate(notebook, relax_add_props=True)
        text = json.dumps(
            notebook, ensure_ascii=False, sort_keys=True
        )  # C's, on a line
        self.write_single_notebook(text + "\n", resources)

    @functools.cached_property
    def _steps(self) -> list[Preprocessor]:
        """Return nbgrader's steps; they keep nothing from one notebook to the next."""
        steps: list[Preprocessor] = []
        for self._sanitizing in (False, True):
            self._init_preprocessors()
            steps[:0] = self.exporter._preprocessors
        return steps


def write(folder: ClassFolder, outcome: Outcome) -> Marks:
    """Write an outcome into gradebook and files; a failure becomes the outcome's.

    Returns:
        What the gradebook then holds of it.
    """
    submission = outcome.submission
    if outcome.notebook is None:
        take_back(folder, submission)
        return Marks()
    with _in_place(folder, submission):
        return _write_notebook(folder, outcome)


def take_back(folder: ClassFolder, submission: Submission) -> None:
    """Leave no score and no page of an earlier grading."""
    written = folder.autograded(submission.student, submission.slug)
    shutil.rmtree(written, ignore_errors=True)
    shutil.rmtree(folder.feedback_page(submission).parent, ignore_errors=True)
    clear_scores(submission.slug, submission.student, folder.db_url)


def _write_notebook(folder: ClassFolder, outcome: Outcome) -> Marks:
    submission = outcome.submission
    folder.coursedir.assignment_id = submission.slug
    folder.coursedir.student_id = submission.student
    app = _app(folder)
    app.outcome = outcome
    with warnings.catch_warnings(), one_gradebook(folder.db_url) as gradebook:
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own, harmless
        done = capture_log(app)
        if done["success"]:
            gradebook.forget_scores()
            return marks_of(gradebook, submission.slug, submission.student)
    outcome.status = "failed"
    outcome.reason = _last_line(done.get("log") or done["error"])
    take_back(folder, submission)
    return Marks()


@functools.cache
def _app(folder: ClassFolder) -> WriteOutcome:
    return WriteOutcome(coursedir=folder.coursedir, config=folder.config, force=True)


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


def write_feedback(folder: ClassFolder, submission: Submission) -> None:
    """Write the feedback page of one graded submission."""
    _pages(folder).write(submission.student, submission.slug)


@functools.cache
def _pages(folder: ClassFolder) -> FeedbackPages:
    return FeedbackPages(coursedir=folder.coursedir, config=folder.config)


def scores_in_gradebook(db_url: str, slug: str) -> dict[str, float]:
    """Return each student's score of a unit as the gradebook has it."""
    with Gradebook(db_url) as gradebook:
        submissions = gradebook.assignment_submissions(slug)
        return {item.student.id: item.score for item in submissions}
