"""Refuse a student's name that could run code in formgrader.

nbgrader's pages write a student's id, which is the folder's name, into HTML and
JavaScript without escaping it, and offer no way to change that.
"""

from autograder.phrases import Phrase
from autograder.repair import Refused
from autograder.sandbox.error_words import clean

ACTIVE = frozenset('<>"\\')


def is_safe_name(student: str) -> bool:
    """Return whether every page of nbgrader shows a student's id as text."""
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
