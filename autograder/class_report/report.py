"""Hold the rows of a class's report on a unit, and compute its statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from statistics import correlation, fmean, median, pstdev
from typing import Any

from autograder.class_report.words import Words
from autograder.collect.name_cleaning import full_name
from autograder.course import ENGLISH
from autograder.grading.feedback_table import number

FEWEST = 8  # minimum number of students for a meaningful correlation


@dataclass(frozen=True)
class Row:
    """Hold the data on one student.

    Attributes:
        student: nbgrader's id.
        status: "graded", "refused", "failed", "not graded", "not taken" (collecting
            refused the file) or "missing".
        reason: why the submission was not graded.
        score: all points in the gradebook, including points by hand, minus any late
            penalty. It is scaled if written answers do not count. A student without a
            submission has a score only if a person gave points.
        scores: the points of each graded cell, or None while a person must still grade
            it.
        awaits_a_human: whether a person must still grade or review something.
        checks: every hidden check's result, from the autograded notebook.
        repair: the repairs that were made.
        doubtful: remarks on what a person should check.
        limits_hit: the limits that the submission reached.
        seconds: how long grading took.
        details: first and last name, e-mail and the number on the platform.
        penalty: the points lost for lateness, scaled like the score.
        page: the address of the feedback page, or "" if there is none.
        language: the language of the submitted notebook.
        sandbox: the kind of sandbox in which the cells ran, or "none".
        viva: the marks of the oral exam and their sum, or "".
    """

    student: str
    status: str
    reason: str = ""
    score: float | None = None
    scores: Mapping[str, float | None] = field(default_factory=dict)
    awaits_a_human: bool = False
    checks: tuple[Mapping[str, Any], ...] = ()
    repair: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    limits_hit: tuple[str, ...] = ()
    seconds: float | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    page: str = ""
    language: str = ENGLISH
    sandbox: str = ""
    viva: str = ""

    @property
    def name(self) -> str:
        """Return the known parts of the name in order: Ada Lovelace, but 김민준."""
        details = self.details
        return full_name(details.get("first_name", ""), details.get("last_name", ""))

    @property
    def final_score(self) -> str:
        """Return the score for a platform's gradebook, or "" if it is not final."""
        if self.score is None or self.awaits_a_human:
            return ""
        return number(self.score)


@dataclass(frozen=True)
class Exercise:
    """Hold a class's results for one graded cell.

    Attributes:
        name: the name of the exercise.
        points: the points of the cell.
        by_hand: whether a person gives the points.
        graded: number of students whose cell is graded, even with 0 points.
        mean: mean share of the points.
        full: share of these students with all points.
        none: share of these students with no points.
        discrimination: correlation between the points of this cell and the points of
            all other cells, or None if there are too few students or all have equal
            points.
    """

    name: str
    points: float
    by_hand: bool
    graded: int
    mean: float | None
    full: float | None
    none: float | None
    discrimination: float | None


@dataclass(frozen=True)
class Mistake:
    """Count the students who made a mistake that a check named."""

    exercise: str
    name: str
    students: int


@dataclass(frozen=True)
class CheckRate:
    """Count the students who passed a hidden check."""

    exercise: str
    title: str
    passed: int
    students: int


@dataclass(frozen=True)
class ClassReport:
    """Hold the contents of a unit's report.

    Attributes:
        slug: the slug of the unit.
        title: the title of the unit.
        max_score: the points of all graded cells that students can see.
        points: how many points each graded cell counts, in the notebook's order.
        by_hand: the cells that a person grades.
        rows: a row for each student, ordered by id.
        note: how written answers count, in words, or "" if a person grades them.
        words: the texts of the page in the class's language.
    """

    slug: str
    title: str
    max_score: float
    points: Mapping[str, float]
    by_hand: frozenset[str]
    rows: tuple[Row, ...]
    note: str = ""
    words: Words = field(default_factory=Words)

    @property
    def graded(self) -> list[Row]:
        """Return the students whose submission was graded."""
        return [row for row in self.rows if row.status == "graded"]

    @property
    def unprotected(self) -> int:
        """Return the number of submissions that ran without a sandbox."""
        return sum(row.sandbox == "none" for row in self.rows)

    def count(self, status: str) -> int:
        """Count the students with a status."""
        return sum(row.status == status for row in self.rows)

    def summary(self) -> dict[str, float]:
        """Return the scores' mean, median and standard deviation, or {}."""
        scores = [row.score for row in self.graded if row.score is not None]
        if not scores:
            return {}
        return {
            "mean": fmean(scores),
            "median": median(scores),
            "standard deviation": pstdev(scores),
        }

    def exercises(self) -> list[Exercise]:
        """Return the class's results for each graded cell."""
        return [self._exercise(name) for name in self.points]

    def _exercise(self, name: str) -> Exercise:
        points = self.points[name]
        own = [
            (score, row)
            for row in self.graded
            if (score := row.scores.get(name)) is not None
        ]
        shares = [score / points for score, _ in own] if points else []
        return Exercise(
            name=name,
            points=points,
            by_hand=name in self.by_hand,
            graded=len(own),
            mean=fmean(shares) if shares else None,
            full=_share(share >= 1 for share in shares),
            none=_share(share <= 0 for share in shares),
            discrimination=_discrimination(
                [score for score, _ in own], [_others(row, name) for _, row in own]
            ),
        )

    def mistakes(self) -> list[Mistake]:
        """Return the mistakes that checks named, the most common first."""
        counts: Counter[tuple[str, str]] = Counter()
        for row in self.graded:
            counts.update(
                {
                    (check["exercise"], check["mistake"])
                    for check in row.checks
                    if check.get("mistake")
                }
            )
        found = [Mistake(*key, students) for key, students in counts.items()]
        return sorted(found, key=lambda one: (-one.students, one.exercise, one.name))

    def check_rates(self) -> list[CheckRate]:
        """Return how many students passed each hidden check, in notebook order."""
        checks = [check for row in self.graded for check in row.checks]
        order = dict.fromkeys((one["exercise"], one["title"]) for one in checks)
        passed = Counter(
            (one["exercise"], one["title"])
            for one in checks
            if one["status"] == "passed"
        )
        everybody = Counter((one["exercise"], one["title"]) for one in checks)
        return [CheckRate(*key, passed[key], everybody[key]) for key in order]


def _others(row: Row, name: str) -> float:
    return sum(
        score
        for other, score in row.scores.items()
        if other != name and score is not None
    )


def _share(marks: Iterable[bool]) -> float | None:
    found = list(marks)
    return sum(found) / len(found) if found else None


def _discrimination(own: list[float], others: list[float]) -> float | None:
    if len(own) < FEWEST or len(set(own)) == 1 or len(set(others)) == 1:
        return None
    return correlation(own, others)


def by_exercise(rates: list[CheckRate]) -> list[tuple[str, list[CheckRate]]]:
    """Group hidden checks by their exercise."""
    grouped = groupby(rates, key=lambda one: one.exercise)
    return [(name, list(group)) for name, group in grouped]
