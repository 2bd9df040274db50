"""Refuse a student's name that could run code in formgrader.

A student's id is the name of a folder. nbgrader's pages insert the id into HTML and
JavaScript without escaping it, and this cannot be changed.
"""

from autograder.phrases import Phrase
from autograder.repair import Refused
from autograder.sandbox.error_words import clean

ACTIVE = frozenset('<>"\\')


def is_safe_name(student: str) -> bool:
    """Return whether every page of nbgrader displays a student's id as text."""
    return student.isprintable() and not ACTIVE & set(student)


def refuse_unsafe_name(student: str) -> None:
    """Raise Refused if a student's id could run code in an instructor's browser."""
    if not is_safe_name(student):
        raise Refused(
            Phrase(
                "{name} is not a valid student name: the folder's name contains one of "
                '< > " \\ or a control character, which could run code in formgrader; '
                "rename the folder",
                clean(student, 60),
            )
        )
