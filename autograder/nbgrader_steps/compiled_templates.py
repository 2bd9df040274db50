"""Compile the feedback page's templates for the processes forked after the import."""

from nbformat.v4 import new_notebook
from traitlets.config import Config

from autograder.nbgrader_steps.feedback import FeedbackExporter
from autograder.nbgrader_steps.highlighting import configure_highlighting
from autograder.nbgrader_steps.safe_pages import configure_pages
from autograder.nbgrader_steps.settings import configure_feedback

_settings = Config()
configure_pages(_settings)
configure_highlighting(_settings)
configure_feedback(_settings)
_names = dict.fromkeys(("student", "assignment", "notebook", "note"), "")
_page = {**_names, "late_penalty": 0, "score": 0, "max_score": 0}
FeedbackExporter(config=_settings).from_notebook_node(
    new_notebook(), {"nbgrader": _page}
)
