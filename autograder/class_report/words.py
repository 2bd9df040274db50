"""Translate the report's page into the language of most of the class's notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.course import ENGLISH, TRANSLATIONS
from autograder.phrases import translated
from autograder.translations.catalogue import translations
from autograder.translations.feedback_catalogues import feedback_table
from autograder.translations.sources import REPORT
from autograder.translations.unit_table import locale_of
from autograder.unit import course_of

Told = Callable[[str], str]


@dataclass(frozen=True)
class Words:
    """Hold the language of a page, and the functions that translate its texts.

    Attributes:
        language: the language of the page.
        told: translates the page's own texts.
        of_grader: translates the grader's messages about a submission.
    """

    language: str = ENGLISH
    told: Told = str
    of_grader: Told = str


def language_of_most(languages: Iterable[str]) -> str:
    """Return the language of more than half of the notebooks, otherwise English."""
    found = Counter(languages)
    most = (one for one in TRANSLATIONS if 2 * found[one] > found.total())
    return next(most, ENGLISH)


def words_in(language: str, slug: str, root: Path) -> Words:
    """Return the translations for a unit's report; other texts remain in English."""
    if language == ENGLISH:
        return Words()
    own = translations(locale_of(course_of(root), language) / REPORT)
    of_grader = {**own, **feedback_table(root, language, slug)}
    return Words(
        language,
        lambda text: translated(text, own),
        lambda text: translated(text, of_grader),
    )


def statuses(told: Told) -> dict[str, str]:
    """Return the names of the statuses of submissions."""
    return {
        "graded": told("graded"),
        "refused": told("refused"),
        "failed": told("failed"),
        "not graded": told("not graded"),
        "not taken": told("not taken"),
        "missing": told("missing"),
    }


def summary_names(told: Told) -> dict[str, str]:
    """Return the names of the summary statistics of a class."""
    return {
        "mean": told("mean"),
        "median": told("median"),
        "standard deviation": told("standard deviation"),
    }
