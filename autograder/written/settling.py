"""Apply the mode in `course.toml` to a unit's written answers in the gradebook.

Points that a person gave are kept in every mode. While written answers do not count,
these points are stored in `grading/written/UNIT.json`. They are restored when the mode
changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from filelock import FileLock
from nbgrader.api import Grade, Gradebook, MissingEntry
from nbgrader.api import Notebook as GradedNotebook

from autograder.atomic_write import atomic_write
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.course import BY_HAND, SUBSTANCE, UNCOUNTED
from autograder.gradebook import submissions_in_turn
from autograder.phrases import Phrase, joined, restored, with_templates
from autograder.unit import GradedUnit, written_points
from autograder.written.reading import answers_to, handed_out_in
from autograder.written.substance import Verdict, judge

LOCK = "gradebook.lock"  # grading runs use the same lock


@dataclass
class Settled:
    """Describe how a unit's written answers currently count in the gradebook.

    Attributes:
        mode: one of `autograder.course.MODES`.
        points: the points of each question, even if they do not count.
        verdicts: for each question and student, the verdict, if substance counts.
        aside: for each student and question, the score and extra credit that a person
            gave, if they do not count.
    """

    mode: str = BY_HAND
    points: dict[str, float] = field(default_factory=dict)
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    aside: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)

    def without_substance(self) -> dict[str, list[str]]:
        """For each student, return in words why answers have no substance."""
        found: dict[str, list[str]] = {}
        for question, verdicts in self.verdicts.items():
            for student, one in verdicts.items():
                if not one.has_substance:
                    words: str = Phrase("{question}: {why}", question, one.why)
                    if one.like:
                        like = Phrase(
                            "It is similar to the answer of {names}.",
                            ", ".join(one.like),
                        )
                        words = joined("{one} {more}", [words, like])
                    found.setdefault(student, []).append(words)
        return found


def how_settled(folder: ClassFolder, slug: str) -> Settled:
    """Return how a unit's written answers counted when they were last settled."""
    try:
        kept = restored(json.loads(_path(folder, slug).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Settled()
    kept["verdicts"] = {
        question: {
            who: Verdict(one["has_substance"], one["why"], tuple(one["like"]))
            for who, one in verdicts.items()
        }
        for question, verdicts in kept["verdicts"].items()
    }
    return Settled(**kept)


def settle(folder: ClassFolder, unit: GradedUnit) -> Settled:
    """Update a unit's written answers in the gradebook to the course's settings.

    Args:
        folder: the class, with the graded notebooks of the unit.
        unit: the unit of the written answers.

    Returns:
        How the answers now count.
    """
    mode = folder.course.unit(unit.slug).written_answers
    before = how_settled(folder, unit.slug)
    if mode == before.mode == BY_HAND:
        return before
    lock = FileLock(grading_folder(folder.root) / "locks" / LOCK)
    with lock, Gradebook(folder.db_url) as gradebook:
        try:
            notebook = gradebook.find_notebook(unit.slug, unit.slug)
        except MissingEntry:
            return before
        now = Settled(mode, written_points(unit.released), aside=before.aside)
        _set_points(notebook, now)
        if mode == SUBSTANCE:
            students = {_student(one) for one in _written(gradebook, unit.slug, now)}
            now.verdicts = _judged(folder, unit, sorted(students), now.points)
        for grade in _written(gradebook, unit.slug, now):
            _settle(grade, now)
        gradebook.db.commit()
    record = with_templates(asdict(now))
    text = json.dumps(record, indent=1, ensure_ascii=False)
    atomic_write(_path(folder, unit.slug), text.encode())
    return now


def _path(folder: ClassFolder, slug: str) -> Path:
    return grading_folder(folder.root) / "written" / f"{slug}.json"


def _set_points(notebook: GradedNotebook, now: Settled) -> None:
    """Set the points of each written question; 0 if the question does not count."""
    for cell in [*notebook.grade_cells, *notebook.task_cells]:
        if cell.name in now.points:
            counts = now.mode != UNCOUNTED
            cell.max_score = now.points[cell.name] if counts else 0.0


def _written(gradebook: Gradebook, slug: str, now: Settled) -> Iterator[Grade]:
    """Yield the grades of a unit's written answers, but do not keep them in memory."""
    for submission in submissions_in_turn(gradebook, slug):
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                if grade.name in now.points:
                    yield grade


def _judged(
    folder: ClassFolder,
    unit: GradedUnit,
    students: list[str],
    points: Mapping[str, float],
) -> dict[str, dict[str, Verdict]]:
    """Judge the answers to every question."""
    handed_out = handed_out_in(folder.course, unit)
    answers = answers_to(folder, unit, students, points)
    return {
        question: judge(answers[question], points[question], handed_out)
        for question in points
    }


def _student(grade: Grade) -> str:
    return grade.notebook.assignment.student.id


def _settle(grade: Grade, now: Settled) -> None:
    """Update one grade to the current mode."""
    if now.mode == UNCOUNTED:
        _put_aside(grade, now)
        grade.auto_score, grade.needs_manual_grade = 0.0, False
        return
    _bring_back(grade, now)
    verdict = now.verdicts.get(grade.name, {}).get(_student(grade))
    _say(grade, verdict)
    is_given = grade.manual_score is not None
    if verdict is None or verdict.has_substance is None:
        grade.auto_score = None
        grade.needs_manual_grade = grade.needs_manual_grade or not is_given
    else:
        full = now.points[grade.name]
        grade.auto_score = full if verdict.has_substance else 0.0
        grade.needs_manual_grade = grade.needs_manual_grade and is_given


def _put_aside(grade: Grade, now: Settled) -> None:
    """Store the points that a person gave, if they do not count."""
    if grade.manual_score is not None or grade.extra_credit is not None:
        own = now.aside.setdefault(_student(grade), {})
        own[grade.name] = [grade.manual_score, grade.extra_credit]
        grade.manual_score = grade.extra_credit = None


def _bring_back(grade: Grade, now: Settled) -> None:
    """Restore the stored points that a person gave."""
    own = now.aside.get(_student(grade), {}).pop(grade.name, None)
    if own is not None:
        grade.manual_score, grade.extra_credit = own


def _say(grade: Grade, verdict: Verdict | None) -> None:
    """Write into the feedback why an answer has no substance."""
    for comment in grade.notebook.comments:
        if comment.name == grade.name:
            comment.auto_comment = (verdict.why if verdict else "") or None
