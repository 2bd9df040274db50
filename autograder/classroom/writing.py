"""Write the results of a submission: marks, graded notebook and feedback page."""

import functools
import json
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.utils import find_all_files

from autograder.classroom.folder import ClassFolder
from autograder.gradebook import is_disk_full
from autograder.grading.outcome import MAX_REASON, Outcome
from autograder.marks import Marks, clear_marks, write_marks
from autograder.nbgrader_steps.autograde import set_links_aside
from autograder.nbgrader_steps.feedback import FeedbackPages
from autograder.unit import Submission


def write(folder: ClassFolder, outcome: Outcome) -> Marks:
    """Write an outcome to the gradebook and files; record any failure in the outcome.

    Returns:
        The marks in the gradebook after writing.
    """
    submission, notebook = outcome.submission, outcome.notebook
    try:
        if notebook is not None:
            nbformat.validate(notebook, relax_add_props=True)
            marks = write_marks(converter(folder), submission, notebook)
            _write_files(folder, submission, notebook)
            return marks
    except Exception as error:  # one submission must not stop the class
        outcome.status, outcome.reason = "failed", reason_of(error)
    take_back(folder, submission)
    return Marks()


def reason_of(error: Exception) -> str:
    """Describe why an outcome could not be written."""
    if is_disk_full(error):
        return "the disk is full: free some space, and grade again"
    return f"{type(error).__name__}: {error}".splitlines()[0][:MAX_REASON]


def take_back(folder: ClassFolder, submission: Submission) -> None:
    """Remove the score and the page of an earlier run."""
    written = folder.autograded(submission.student, submission.slug)
    shutil.rmtree(written, ignore_errors=True)
    shutil.rmtree(folder.feedback_page(submission).parent, ignore_errors=True)
    clear_marks(folder.db_url, submission)


@functools.cache
def converter(folder: ClassFolder) -> Autograde:
    """Return nbgrader's converter with the settings of the class."""
    return Autograde(coursedir=folder.coursedir, config=folder.config)


def _write_files(
    folder: ClassFolder, submission: Submission, notebook: NotebookNode
) -> None:
    """Write the graded notebook, and copy the other files as nbgrader does.

    If a student's file has the same name as one of the unit's files, the unit's file
    replaces it.
    """
    student, slug = submission.student, submission.slug
    course, autograde = folder.coursedir, converter(folder)
    graded = folder.autograded(student, slug)
    handed_in = Path(course.format_path(course.submitted_directory, student, slug))
    source = Path(course.format_path(course.source_directory, ".", slug))
    shutil.rmtree(graded, ignore_errors=True)
    graded.mkdir(parents=True)
    set_links_aside(slug, student, [str(handed_in / f"{slug}.ipynb")])
    _copy_files(handed_in, graded, course.ignore)
    _copy_files(source, graded, course.ignore, autograde.exclude_overwriting.get(slug))
    text = json.dumps(notebook, ensure_ascii=False, sort_keys=True)
    (graded / f"{slug}.ipynb").write_text(text + "\n", encoding="utf-8")
    autograde.set_permissions(slug, student)


def _copy_files(
    source: Path, target: Path, ignored: list[str], left_out: list[str] | None = None
) -> None:
    """Copy the files in a folder, except notebooks and ignored files."""
    for path in map(Path, find_all_files(str(source), [*ignored, "*.ipynb"])):
        name = path.relative_to(source)
        if name.as_posix() not in (left_out or ()):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / name)


def write_feedback(folder: ClassFolder, submission: Submission) -> None:
    """Write the feedback page of one graded submission."""
    _pages(folder).write(submission.student, submission.slug)


@functools.cache
def _pages(folder: ClassFolder) -> FeedbackPages:
    return FeedbackPages(coursedir=folder.coursedir, config=folder.config)
