"""Define the course's nbgrader settings, which `nbgrader_config.py` uses."""

from pathlib import Path

from traitlets.config import Config

from autograder.assemble.release import configure_release
from autograder.course import CourseError
from autograder.late_rule import late_rule_of
from autograder.nbgrader_steps.highlighting import configure_highlighting
from autograder.nbgrader_steps.safe_pages import NBGRADERS_PAGES, configure_pages
from autograder.unit import course_of

# The steps are given by name, so that reading the settings does not import the grader.
STEPS = "autograder.nbgrader_steps"
# nbgrader does not copy files that a browser could run in an instructor's session.
ACTIVE_FILES = [
    *("*.[hH][tT][mM]*", "*.[xXsS][hH][tT]*", "*.[mM][hH][tT]*", "*.[xX][mMsS][lL]*"),
    *("*.[sS][vV][gG]*", "*.[jJ][sS]", "*.[cCmM][jJ][sS]", "*.[pP][dD][fF]"),
]


def configure(c: Config, root: Path | None = None) -> None:
    """Make nbgrader release, grade and write feedback like the course's commands.

    Args:
        c: nbgrader's configuration object.
        root: the course's folder. The default is nbgrader's working folder.

    Raises:
        SystemExit: with a message if `course.toml` is invalid. After any other
            exception, nbgrader would continue without these settings.
    """
    try:
        configure_release(c, root)
        late_rule_of(course_of(root or Path.cwd()))
    except CourseError as error:
        raise SystemExit(str(error)) from None
    configure_pages(c)
    c.HTMLExporter.preprocessors += [f"{STEPS}.equal_answers.ShowEqualAnswers"]
    c.ShowEqualAnswers.root = str(root or Path.cwd())
    configure_highlighting(c)
    c.CourseDirectory.ignore = [*c.CourseDirectory.ignore, *ACTIVE_FILES]
    if root is not None:
        c.CourseDirectory.root = str(root)
    configure_autograde(c)
    configure_feedback(c)
    c.AssignLatePenalties.plugin_class = "autograder.late_rule.CourseLatePenalty"
    c.ExportApp.plugin_class = f"{STEPS}.export.SafeCsvExport"


def configure_autograde(c: Config) -> None:
    """Make nbgrader grade with only our step, which also writes the marks."""
    c.Autograde.exporter_class = f"{STEPS}.autograde.SubmissionExporter"
    c.Autograde.pre_convert_hook = f"{STEPS}.autograde.set_links_aside"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = [f"{STEPS}.autograde.RunHiddenChecks"]


def configure_feedback(c: Config) -> None:
    """Make nbgrader write feedback with our exporter, our step and our template."""
    c.GenerateFeedback.exporter_class = f"{STEPS}.feedback.FeedbackExporter"
    c.GenerateFeedback.preprocessors = [f"{STEPS}.feedback.GradesOrNone"]
    c.FeedbackExporter.template_name = "course_feedback"
    c.FeedbackExporter.extra_template_paths = [str(NBGRADERS_PAGES)]
