"""Keep students' names from acting in formgrader, which shows them as they are.

nbgrader's pages write a student's id, the folder's name, into HTML and JavaScript
without escaping it, and leave no way to change that: an id that could act is refused.
First and last names are free text; they are escaped where nbconvert makes the page.
"""

from html import escape
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from autograder.repair import Refused
from autograder.sandbox.error_words import clean

ACTIVE = frozenset('<>"\\')
SHOWN = ("student", "first_name", "last_name", "notebook_path", "filename")


def is_safe_name(student: str) -> bool:
    """Say whether a student's id is shown as text by every page of nbgrader's."""
    return student.isprintable() and not ACTIVE & set(student)


def refuse_unsafe_name(student: str) -> None:
    """Raise Refused if a student's id could act in an instructor's browser."""
    if not is_safe_name(student):
        raise Refused(
            f"{clean(student, 60)} is no student's name: the folder's name holds "
            'one of < > " \\ or a control character, which would act in formgrader; '
            "rename the folder"
        )


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
