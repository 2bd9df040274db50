"""Explain how written answers count, and scale the score if necessary."""

from autograder.course import SUBSTANCE, UNCOUNTED
from autograder.grading.feedback_table import number
from autograder.phrases import Phrase


def sentence_about(mode: str, counted: float, total: float) -> str:
    """Explain how written answers count, or return "" if a person grades them.

    Args:
        mode: one of `autograder.course.MODES`.
        counted: the points that count.
        total: the total that students see for the unit.
    """
    if mode == UNCOUNTED:
        return Phrase(
            "Written answers do not count in this unit: the score out of {counted} is "
            "scaled to {total}.",
            number(counted),
            number(total),
        )
    if mode == SUBSTANCE:
        return Phrase(
            "In this unit, every written answer of substance earns full points; "
            "whether it is right does not count."
        )
    return ""


def scaled(score: float, counted: float, total: float) -> float:
    """Scale a score out of `counted` points to a score out of `total`."""
    return round(score * total / counted, 2) if counted else 0.0
