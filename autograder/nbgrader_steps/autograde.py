"""Make `nbgrader autograde` grade a submission as `course grade` does.

The configuration in `settings.py` adds this step, so that nbgrader's command line,
`NbGraderAPI` and formgrader's button all use it. nbgrader itself copies the other files
in a notebook's folder, and writes the graded notebook.
"""

import os
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Dict

from autograder.marks import clear_marks, write_marks
from autograder.repair import Refused
from autograder.sandbox.bubblewrap import NO_SANDBOX
from autograder.sandbox.limits import Limits
from autograder.unit import Submission, graded_unit

NOTEBOOK = ".ipynb"


class SubmissionExporter(NotebookExporter):
    """Do not parse submitted notebooks, so that `RunHiddenChecks` can repair them."""

    # nbconvert annotates the result as a notebook, but it is text.
    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Return an empty notebook in nbgrader's first pass over a submission."""
        if getattr(self.parent, "_sanitizing", False):
            return super().from_notebook_node(new_notebook(), resources, **kwargs)
        return super().from_filename(filename, resources, **kwargs)


class RunHiddenChecks(NbGraderPreprocessor):
    """Read and repair a submission, run the hidden checks, and write the marks."""

    limits = Dict(
        help="Limits of a submission that differ from autograder.sandbox.limits.Limits"
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the graded notebook.

        Raises:
            Refused: if there is nothing to grade. Old scores are removed first.
        """
        autograde, names = self.parent.parent, resources["nbgrader"]
        # The import includes PyTorch, which nbgrader's converter needs only for
        # grading.
        from autograder.grading.submission import grade_submission

        coursedir, student = autograde.coursedir, names["student"]
        slug = names["assignment"]
        unit = graded_unit(slug, Path(coursedir.root))
        folder = coursedir.format_path(coursedir.submitted_directory, student, slug)
        path = Path(folder, names["notebook"] + NOTEBOOK)
        submission = Submission(student, slug, path)
        outcome = grade_submission(unit, submission, Limits(**self.limits))
        if outcome.notebook is None:
            clear_marks(coursedir.db_url, submission)
            raise Refused(outcome.reason)
        for note in outcome.notes:
            self.log.warning("Repaired: %s", note)
        if outcome.reason:
            self.log.error("Nothing was run: %s", outcome.reason)
        if outcome.is_unprotected:
            self.log.warning("Graded without a sandbox: %s.", NO_SANDBOX)
        write_marks(autograde, submission, outcome.notebook)
        return outcome.notebook, resources


def set_links_aside(assignment: str, student: str, notebooks: list[str]) -> None:
    """Replace links and everything else that is not a regular file with a note.

    nbgrader would copy the target of a link, and it would hang at a pipe. It does not
    copy notebooks, so this function does not replace linked notebooks. They are refused
    when they are read.
    """
    for folder in {Path(path).parent for path in notebooks}:
        if folder.is_symlink() or folder.parent.is_symlink():
            _set_folder_aside(folder, notebooks)
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix == NOTEBOOK:
                continue
            if path.is_symlink():
                note = path.with_name(f"{path.name}.was-a-link")
                note.write_text(f"{path.name} was a link to {os.readlink(path)}\n")
                path.unlink()
            elif path.exists() and not (path.is_file() or path.is_dir()):
                note = path.with_name(f"{path.name}.was-no-file")
                note.write_text(f"{path.name} was no regular file\n")
                path.unlink()


def _set_folder_aside(folder: Path, notebooks: list[str]) -> None:
    """Replace a linked folder with a new folder of links to its notebooks.

    The target of the link is not changed.
    """
    linked = folder if folder.is_symlink() else folder.parent
    target = linked.resolve()
    linked.unlink()
    folder.mkdir(parents=True)
    for path in map(Path, notebooks):
        if path.parent == folder:
            path.symlink_to(target)
