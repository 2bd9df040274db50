"""Keep students' names from acting in formgrader's page of a submission.

First and last names are free text: they are escaped where nbconvert makes the page. An
id that could act is refused (`grading/student_names.py`).
"""

from html import escape
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

SHOWN = ("student", "first_name", "last_name", "notebook_path", "filename")


class EscapeNames(Preprocessor):
    """Escape names before formgrader's page of a submission is made of them."""

    enabled = True

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook as it is, and resources with escaped names."""
        names = {
            key: escape(resources[key])
            for key in SHOWN
            if isinstance(resources.get(key), str)
        }
        resources.update(names)
        return nb, resources
