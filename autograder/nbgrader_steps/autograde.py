"""The course's own steps in `nbgrader autograde`: repair, then run hidden checks.

They are named in nbgrader's configuration (`settings.py`), so the command line,
`NbGraderAPI` and formgrader's button all take them.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor, OverwriteCells
from traitlets import Dict

from autograder.grading.editions import language_of
from autograder.grading.outcome import RECORD, Outcome, from_record
from autograder.grading.student_names import is_safe_name, refuse_unsafe_name
from autograder.grading.submission import (
    check,
    fail,
    notebook_of,
    repair,
    shared_parent,
    write_results,
)
from autograder.repair import Refused, SubmittedCell, read_submission
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission, graded_unit

LINK_NOTE = ".was-a-link"
NO_FILE_NOTE = ".was-no-file"


class SubmissionExporter(NotebookExporter):
    """Read a submitted notebook however damaged it is; write it as usual."""

    # nbconvert says that this returns a notebook, but what it gives is text.
    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Read the submitted cells without believing anything else of the file.

        Raises:
            Refused: if the file is no notebook.
        """
        if resources is None or not self._is_submission():
            return super().from_filename(filename, resources, **kwargs)
        try:
            refuse_unsafe_name(resources["nbgrader"]["student"])
            if os.path.lexists(filename + LINK_NOTE):
                raise Refused("it is a link, not a file: hand the notebook itself in")
            if os.path.lexists(filename + NO_FILE_NOTE):
                raise Refused("it is no regular file: hand the notebook itself in")
            cells = read_submission(Path(filename))
        except Refused:
            clear_scores(**resources["nbgrader"])
            raise
        notebook = new_notebook(cells=[_carried(cell) for cell in cells])
        name = Path(filename).stem
        resources["metadata"] = {"name": name, "path": str(Path(filename).parent)}
        return super().from_notebook_node(notebook, resources, **kwargs)

    def _is_submission(self) -> bool:
        return bool(getattr(self.parent, "_sanitizing", False))


def _carried(cell: SubmittedCell) -> NotebookNode:
    """Carry what was read through nbconvert, to be unpacked by the repair."""
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    record = {
        "type": cell.cell_type,
        "grade_id": cell.grade_id,
        "ids": [*cell.ids],
        "pictures": cell.pictures,
        "had_invisible": cell.had_invisible,
    }
    return make(cell.source, metadata={RECORD: record})


def _unpacked(cell: NotebookNode) -> SubmittedCell:
    record = cell.metadata[RECORD]
    ids = frozenset(record["ids"])
    rest = (record[key] for key in ("pictures", "had_invisible"))
    return SubmittedCell(record["type"], cell.source, record["grade_id"], ids, *rest)


class RepairSubmission(NbGraderPreprocessor):
    """Rebuild the submission on the released notebook."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the released notebook with the student's answers in it.

        Raises:
            Refused: if none of the unit's answers is there; no old score stays.
        """
        known = _known_outcome(self)
        if known is not None:
            return notebook_of(known), resources
        cells = [_unpacked(cell) for cell in nb.cells]
        unit, submission = unit_of(self, resources), submission_of(self, resources)
        try:
            outcome = repair(unit, submission, cells)
        except Refused:
            clear_scores(**resources["nbgrader"])
            raise
        for note in outcome.notes:
            self.log.warning("Repaired: %s", note)
        return notebook_of(outcome), resources


class OverwriteEnglishCells(OverwriteCells):
    """Put the cells that were handed out back, as nbgrader does, from its gradebook.

    It knows the English ones. Those of another edition stand in its submissions since
    the repair, with their own checksums, by which an untouched answer is known.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Leave a notebook of another edition as the repair has made it."""
        if language_of(nb) is not None:
            return nb, resources
        return super().preprocess(nb, resources)


class RunHiddenChecks(NbGraderPreprocessor):
    """Run the hidden checks and write their scores where nbgrader looks for them."""

    limits = Dict(
        help="Limits of a submission that differ from autograder.sandbox.limits.Limits"
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Grade the notebook; whatever fails earns nothing and says so."""
        if _known_outcome(self) is not None:
            return nb, resources
        unit, submission = unit_of(self, resources), submission_of(self, resources)
        outcome = from_record(nb.metadata[RECORD], submission, nb)
        try:
            check(unit, outcome, shared_parent(), Limits(**self.limits))
        except Exception as error:  # no old score may stay, whatever it is
            self.log.error("Nothing was run: %s: %s", type(error).__name__, error)
            fail(unit, outcome, str(error))
            write_results(outcome)
        return nb, resources


def _known_outcome(step: NbGraderPreprocessor) -> Outcome | None:
    """Return what `course grade` found out before; None if nbgrader itself grades."""
    return getattr(step.parent.parent, "outcome", None)


def clear_scores(assignment: str, student: str, db_url: str, **_others: str) -> None:
    """Leave no score of a refused submission: a human must look at it.

    A student whose name could act in formgrader does not stay in the gradebook.
    """
    with Gradebook(db_url) as gradebook:
        if not is_safe_name(student):
            with contextlib.suppress(MissingEntry):
                gradebook.remove_student(student)
            return
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(assignment, student)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                grade.auto_score = None
                grade.needs_manual_grade = True
        gradebook.db.commit()


def unit_of(step: NbGraderPreprocessor, resources: dict[str, Any]) -> GradedUnit:
    """Return the unit that a step of nbgrader works on."""
    root = Path(step.parent.parent.coursedir.root)
    return graded_unit(resources["nbgrader"]["assignment"], root)


def submission_of(step: NbGraderPreprocessor, resources: dict[str, Any]) -> Submission:
    """Return the submission that a step of nbgrader works on."""
    coursedir, names = step.parent.parent.coursedir, resources["nbgrader"]
    student, slug = names["student"], names["assignment"]
    folder = coursedir.format_path(coursedir.submitted_directory, student, slug)
    return Submission(student, slug, Path(folder, f"{names['notebook']}.ipynb"))


def _set_folder_aside(folder: Path, notebooks: list[str]) -> None:
    """Put an empty folder with notes in the place of a linked one.

    Nothing is looked at or changed where the link leads to.
    """
    linked = folder if folder.is_symlink() else folder.parent
    words = f"{linked.name} was a link to {os.readlink(linked)}\n"
    linked.unlink()
    folder.mkdir(parents=True)
    for path in notebooks:
        if Path(path).parent == folder:
            Path(path + LINK_NOTE).write_text(words)


def set_links_aside(assignment: str, student: str, notebooks: list[str]) -> None:
    """Put a note in the place of each link, and take away what is no file.

    nbgrader copies what links lead to, whatever that is, and stops at a pipe.
    """
    for folder in {Path(path).parent for path in notebooks}:
        if folder.is_symlink() or folder.parent.is_symlink():
            _set_folder_aside(folder, notebooks)
            continue
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                note = path.with_name(path.name + LINK_NOTE)
                note.write_text(f"{path.name} was a link to {os.readlink(path)}\n")
                path.unlink()
            elif path.exists() and not (path.is_file() or path.is_dir()):
                note = path.with_name(path.name + NO_FILE_NOTE)
                note.write_text(f"{path.name} was no regular file\n")
                path.unlink()
