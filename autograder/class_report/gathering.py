"""Gather what is known of a class's work on one unit; nothing is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from statistics import correlation, fmean, median, pstdev
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry

from autograder.classroom.audit_log import NAME as LOG
from autograder.classroom.deciding import hash_of_submission
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.grading.outcome import RECORD
from autograder.unit import CHECK_SUFFIX, Submission, graded_unit

FEWEST = 8  # students, for a correlation to say something
CLOCKS = 1.0  # seconds by which a file's time and the log's may differ


@dataclass(frozen=True)
class Row:
    """What is known of one student.

    Attributes:
        student: nbgrader's id.
        status: "graded", "refused", "failed", "not graded" or "missing".
        reason: why it was not graded.
        score: all points in the gradebook, those by hand too, less a late penalty.
        scores: the points of each graded cell; None where a human must give them.
        awaits_a_human: whether something must be graded by hand, or looked at again.
        checks: every hidden check's result, as kept in the autograded notebook.
        repair: what was mended.
        doubtful: what a human should look at.
        limits_hit: which limits the submission ran into.
        seconds: how long grading took.
        details: first and last name, e-mail and the number on the platform.
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


@dataclass(frozen=True)
class Exercise:
    """How a class did in one graded cell.

    Attributes:
        name: of the exercise.
        points: that it carries.
        by_hand: whether a human gives them.
        graded: how many students have points, be it 0.
        mean: share of the points that they have on average.
        full: share of them with all points.
        none: share of them with no point.
        discrimination: correlation of its points with those of all others together;
            None where students are too few or all alike.
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
    """A mistake that was recognised, and how many students made it."""

    exercise: str
    name: str
    students: int


@dataclass(frozen=True)
class CheckRate:
    """A hidden check, and how many students pass it."""

    exercise: str
    title: str
    passed: int
    students: int


@dataclass(frozen=True)
class ClassReport:
    """All that the report of a unit shows.

    Attributes:
        slug: of the unit.
        title: of the unit.
        max_score: points of all graded cells.
        points: the points of each graded cell, in the notebook's order.
        by_hand: the cells that a human grades.
        rows: a row for each student, by id.
    """

    slug: str
    title: str
    max_score: float
    points: Mapping[str, float]
    by_hand: frozenset[str]
    rows: tuple[Row, ...]

    @property
    def graded(self) -> list[Row]:
        """The students whose submission was graded."""
        return [row for row in self.rows if row.status == "graded"]

    def count(self, status: str) -> int:
        """Count the students of a status."""
        return sum(row.status == status for row in self.rows)

    def summary(self) -> dict[str, float]:
        """Return mean, median and standard deviation of the scores, if any."""
        scores = [row.score for row in self.graded if row.score is not None]
        if not scores:
            return {}
        return {
            "mean": fmean(scores),
            "median": median(scores),
            "standard deviation": pstdev(scores),
        }

    def exercises(self) -> list[Exercise]:
        """Return how the class did in each graded cell."""
        return [self._exercise(name) for name in self.points]

    def _exercise(self, name: str) -> Exercise:
        points = self.points[name]
        own = [
            (row.scores[name], row)
            for row in self.graded
            if row.scores.get(name) is not None
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
        """Return the mistakes that were recognised, the most common first."""
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
        """Return how many students pass each hidden check, in the notebook's order."""
        checks = [check for row in self.graded for check in row.checks]
        order = dict.fromkeys((one["exercise"], one["title"]) for one in checks)
        passed = Counter(
            (one["exercise"], one["title"])
            for one in checks
            if one["status"] == "passed"
        )
        everybody = Counter((one["exercise"], one["title"]) for one in checks)
        return [CheckRate(*key, passed[key], everybody[key]) for key in order]


def gather(folder: ClassFolder, slug: str) -> ClassReport:
    """Gather what gradebook, autograded notebooks and audit log say of a unit.

    Raises:
        FileNotFoundError: if the unit was never graded in this class.
    """
    log = last_lines(grading_folder(folder.root) / LOG, slug)
    handed_in = {one.student: one for one in folder.submissions(slug)}
    with Gradebook(folder.db_url) as gradebook:
        try:
            notebook = gradebook.find_notebook(slug, slug)
        except MissingEntry:
            raise FileNotFoundError(
                f"{slug} was never graded here: run `course grade {slug}` first"
            ) from None
        points = {_exercise(cell.name): cell.max_score for cell in notebook.grade_cells}
        by_hand = {
            cell.name
            for cell in notebook.grade_cells
            if not cell.name.endswith(CHECK_SUFFIX)
        }
        known = {student.id: student for student in gradebook.students}
        sources = _Sources(folder, slug, gradebook, log, handed_in)
        rows = [
            sources.row(name, _details(known.get(name)))
            for name in sorted(known.keys() | handed_in.keys() | log.keys())
        ]
    return ClassReport(
        slug,
        folder.course.unit(slug).title,
        round(sum(points.values()), 2),
        {name: points[name] for name in _order_of(folder, slug, points)},
        frozenset(by_hand),
        tuple(rows),
    )


@dataclass(frozen=True)
class _Marks:
    """What the gradebook has of one submission."""

    score: float
    scores: Mapping[str, float | None]
    awaits_a_human: bool


@dataclass(frozen=True)
class _Sources:
    """Where the rows come from: the gradebook first, the log for what is not in it."""

    folder: ClassFolder
    slug: str
    gradebook: Gradebook
    log: Mapping[str, Mapping[str, Any]]
    handed_in: Mapping[str, Submission]

    def row(self, name: str, details: Mapping[str, str]) -> Row:
        line, marks = self.log.get(name, {}), self._marks(name)
        status, reason = self._status(name, marks)
        if status != "graded" or marks is None:
            return Row(name, status, reason, details=details)
        record = _record(self._autograded(name))
        return Row(
            name,
            status,
            "",
            marks.score,
            marks.scores,
            marks.awaits_a_human,
            tuple(record.get("checks", ())),
            tuple(record.get("repair", ())),
            tuple(record.get("doubtful", ())),
            tuple(record.get("limits_hit", ())),
            line.get("seconds") or record.get("seconds"),
            details,
        )

    def _status(self, name: str, marks: _Marks | None) -> tuple[str, str]:
        """Say what became of a submission, and why it has no marks."""
        line, submission = self.log.get(name, {}), self.handed_in.get(name)
        if marks is not None:
            if submission is not None and self._has_changed(submission, line):
                return "not graded", "it has changed since it was graded"
            return "graded", ""
        if line.get("status") in ("refused", "failed"):
            return line["status"], line.get("reason", "")
        return ("missing", "") if submission is None else ("not graded", "")

    def _has_changed(self, submission: Submission, line: Mapping[str, Any]) -> bool:
        """Say whether something else was handed in since; nbgrader may have graded it.

        It leaves no line in the log, but a notebook that is younger than the line.
        """
        graded = line.get("hashes", {}).get("submission")
        if graded is None or graded == hash_of_submission(submission):
            return False
        try:
            written = self._autograded(submission.student).stat().st_mtime
        except OSError:
            return True
        return written <= datetime.fromisoformat(line["when"]).timestamp() + CLOCKS

    def _autograded(self, name: str) -> Path:
        place = self.folder.coursedir.format_path("autograded", name, self.slug)
        return Path(place) / f"{self.slug}.ipynb"

    def _marks(self, name: str) -> _Marks | None:
        """Return what the gradebook has; None where no check has been run."""
        try:
            submission = self.gradebook.find_submission(self.slug, name)
        except (MissingEntry, UnicodeEncodeError):  # no gradebook takes such a name
            return None
        grades = [grade for one in submission.notebooks for grade in one.grades]
        if all(grade.auto_score is None for grade in grades):
            return None
        scores = {
            _exercise(grade.name): None
            if grade.needs_manual_grade and grade.manual_score is None
            else float(grade.score)
            for grade in grades
        }
        total = sum(score for score in scores.values() if score is not None)
        total -= float(submission.late_submission_penalty or 0.0)
        awaits = any(grade.needs_manual_grade for grade in grades)
        return _Marks(round(max(total, 0.0), 2), scores, awaits)


def last_lines(path: Path, slug: str) -> dict[str, dict[str, Any]]:
    """Return the last line about each student in the audit log of a unit.

    A line that was kept from an earlier run points to that run's.
    """
    found: dict[str, dict[str, Any]] = {}
    for line in _lines(path):
        if line.get("unit") != slug:
            continue
        before = found.get(line["student"], {})
        if line["status"] == "kept":
            line = {**line, "status": "graded", "seconds": before.get("seconds")}
        found[line["student"]] = line
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(text)
        except ValueError:  # cut off by a kill
            continue


def _order_of(folder: ClassFolder, slug: str, points: Mapping[str, float]) -> list[str]:
    """Return the graded cells in the order of the released notebook."""
    released = graded_unit(slug, folder.root).released
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in released.cells]
    order = [_exercise(one) for one in ids if one and _exercise(one) in points]
    return [*dict.fromkeys(order), *sorted(points.keys() - set(order))]


def _exercise(cell: str) -> str:
    return cell.removesuffix(CHECK_SUFFIX)


def _details(student: Any) -> dict[str, str]:
    """Return what the gradebook knows of a student beside the id."""
    found = {
        key: getattr(student, key, None)
        for key in ("first_name", "last_name", "email", "lms_user_id")
    }
    return {key: str(value) for key, value in found.items() if value}


def _record(path: Path) -> Mapping[str, Any]:
    """Return what grading kept in the autograded notebook."""
    try:
        return nbformat.read(path, as_version=4).metadata.get(RECORD, {})
    except (OSError, ValueError):
        return {}


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
