"""The course's nbgrader settings; `nbgrader_config.py` hands over to them."""

from pathlib import Path

from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.config import Config

from autograder.assemble.release import configure_release
from autograder.nbgrader_steps.autograde import (
    RepairSubmission,
    RunHiddenChecks,
    SubmissionExporter,
    set_links_aside,
)
from autograder.nbgrader_steps.feedback import configure_feedback
from autograder.nbgrader_steps.safe_markdown import configure_pages

# What a browser would run where an instructor is logged in is not copied from students.
ACTIVE_FILES = [
    *("*.[hH][tT][mM]*", "*.[xXsS][hH][tT]*", "*.[mM][hH][tT]*", "*.[xX][mMsS][lL]*"),
    *("*.[sS][vV][gG]*", "*.[jJ][sS]", "*.[cCmM][jJ][sS]", "*.[pP][dD][fF]"),
]


def configure(c: Config, root: Path | None = None) -> None:
    """Make nbgrader release, grade and give feedback as the course does.

    Args:
        c: nbgrader's configuration object.
        root: the course's folder; by default the one that nbgrader is started in.
    """
    configure_release(c, root)
    configure_pages(c)
    c.CourseDirectory.ignore = [*c.CourseDirectory.ignore, *ACTIVE_FILES]
    if root is not None:
        c.CourseDirectory.root = str(root)
    c.Autograde.exporter_class = SubmissionExporter
    configure_feedback(c)
    c.Autograde.pre_convert_hook = set_links_aside
    c.Autograde.sanitize_preprocessors = [
        RepairSubmission,
        OverwriteKernelspec,
        OverwriteCells,
        CheckCellMetadata,
    ]
    c.Autograde.autograde_preprocessors = [
        RunHiddenChecks,
        SaveAutoGrades,
        AssignLatePenalties,
        CheckCellMetadata,
    ]
