"""Write and read the marks of one submission in nbgrader's gradebook.

`course grade`, `nbgrader autograde` and formgrader's button all use `write_marks`.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.converters import Autograde
from nbgrader.utils import (
    compute_checksum,
    determine_grade,
    is_grade,
    is_solution,
    is_task,
    parse_utc,
)
from sqlalchemy.orm import Session

from autograder.atomic_write import atomic_write
from autograder.course import LANGUAGE_KEY
from autograder.gradebook import fetch_cells, open_transaction
from autograder.grading.handed_in_at import NAME, STRANGE, may_be_a_time
from autograder.grading.student_names import is_safe_name
from autograder.late_rule import late_penalty, late_plugin
from autograder.unit import CHECK_SUFFIX, Submission

ANSWERS = Path("grading", "answers")
NO_RESPONSE = "No response."  # nbgrader's wording


@dataclass(frozen=True)
class Marks:
    """Hold the marks of one submission; without marks, all fields are empty.

    Attributes:
        auto: the automatic score of each cell that hidden checks grade.
        scores: the score of each graded cell, or None while a person must still grade
            it.
        score: the sum of the scores, minus any late penalty.
        penalty: the late penalty.
        awaits_a_human: whether a person must still grade or review something.
        is_by_hand: whether a person has given any points.
        shown: a digest of all marks on the feedback page.
    """

    auto: Mapping[str, float | None] = field(default_factory=dict)
    scores: Mapping[str, float | None] = field(default_factory=dict)
    score: float = 0.0
    penalty: float = 0.0
    awaits_a_human: bool = False
    is_by_hand: bool = False
    shown: str = ""


def write_marks(
    converter: Autograde, submission: Submission, notebook: NotebookNode
) -> Marks:
    """Write either all or none of a graded notebook's marks into the gradebook.

    The marks are the scores, comments and late penalty. All points and comments from a
    person are kept. nbgrader asks for a review of every submission that it grades
    again. This function asks only if the answer or its automatic score has changed.

    Args:
        converter: nbgrader's converter, with the class's settings.
        submission: the submission to which the notebook belongs.
        notebook: the graded notebook. Its cells get the points and checksums from the
            gradebook.

    Returns:
        The marks in the gradebook after writing.

    Raises:
        MissingEntry: if the unit or one of its cells is not in the gradebook.
        ValueError: if the hand-in time cannot be read.
    """
    coursedir = converter.coursedir
    names = (submission.student, submission.slug)
    home = Path(coursedir.format_path(coursedir.submitted_directory, *names))
    path = _answers_file(Path(coursedir.root), submission)
    answers, before = _answers_in(notebook), _read(path)
    same = {name for name in answers if answers[name] == before.get(name)}
    time, plugin = time_in(home), late_plugin(converter)
    with open_transaction(coursedir.db_url) as session:
        own = _find_or_add(session, submission, time)
        _write_cells(session, own, notebook, same)
        session.flush()
        session.refresh(own, ["score"])  # the database computes the score
        own.late_submission_penalty = late_penalty(plugin, own)
        marks = marks_in(own.assignment)
    atomic_write(path, json.dumps(answers).encode())
    return marks


def clear_marks(db_url: str, submission: Submission) -> None:
    """Remove a refused submission's automatic scores, and ask for a review.

    A student whose name could run code in formgrader is removed from the gradebook.
    """
    if not is_safe_name(submission.student):
        with Gradebook(db_url) as gradebook, contextlib.suppress(MissingEntry):
            gradebook.remove_student(submission.student)
        return
    with open_transaction(db_url) as session:
        for grade in _find_or_add(session, submission).grades:
            grade.auto_score, grade.needs_manual_grade = None, True


def time_in(folder: Path) -> datetime | None:
    """Return the hand-in time in UTC that a submission's folder records, or None.

    Raises:
        ValueError: if the text is not a time. Because a student may have written the
            file, it is not read if it is long or not a regular file.
    """
    note = folder / NAME
    if not note.exists():
        return None
    if not may_be_a_time(note):
        raise ValueError(STRANGE)
    try:
        text = note.read_text(encoding="utf-8").strip()
        return parse_utc(text) if text else None
    except (ValueError, OverflowError):
        raise ValueError(STRANGE) from None


def _find_or_add(
    session: Session, submission: Submission, time: datetime | None = None
) -> SubmittedNotebook:
    """Return the rows of a submission; add those that are missing.

    nbgrader's own methods are not used, because they commit each row separately.
    """
    assignment = session.query(Assignment).filter_by(name=submission.slug).first()
    notebooks = assignment.notebooks if assignment else []
    notebook = next((one for one in notebooks if one.name == submission.slug), None)
    if assignment is None or notebook is None:
        raise MissingEntry(f"the gradebook does not know the unit {submission.slug}")
    student = session.get(Student, submission.student)
    if student is None:
        student = Student(id=submission.student)
        session.add(student)
    rows = session.query(SubmittedAssignment).filter_by(assignment_id=assignment.id)
    handed_in = rows.filter_by(student_id=student.id).first()
    if handed_in is None:
        handed_in = SubmittedAssignment(assignment=assignment, student=student)
        session.add(handed_in)
    handed_in.timestamp = time or handed_in.timestamp
    own = next((one for one in handed_in.notebooks if one.notebook is notebook), None)
    if own is None:
        own = SubmittedNotebook(assignment=handed_in, notebook=notebook)
        session.add(own)
    fetch_cells(notebook)
    has_grade = {grade.cell_id for grade in own.grades}
    for cell in [*notebook.grade_cells, *notebook.task_cells]:
        if cell.id not in has_grade:
            session.add(Grade(cell=cell, notebook=own, needs_manual_grade=True))
    has_comment = {comment.cell_id for comment in own.comments}
    for cell in [*notebook.solution_cells, *notebook.task_cells]:
        if cell.id not in has_comment:
            session.add(Comment(cell=cell, notebook=own))
    return own


def _write_cells(
    session: Session, own: SubmittedNotebook, notebook: NotebookNode, same: set[str]
) -> None:
    """Write the cells' scores and comments into the gradebook's rows.

    The gradebook's points and checksums are also copied into the cells, because
    nbgrader detects an unchanged answer by its checksum. The gradebook contains only
    the checksums of the English cells, so a notebook in another language uses its own.
    """
    grades = {grade.cell.name: grade for grade in own.grades}
    comments = {comment.cell.name: comment for comment in own.comments}
    checksums: dict[str, str] = {}
    if LANGUAGE_KEY not in notebook.metadata:
        released = session.query(SourceCell.name, SourceCell.checksum)
        released = released.filter(SourceCell.notebook_id == own.notebook_id)
        checksums = {name: checksum for name, checksum in released}
    for cell in notebook.cells:
        details = cell.metadata.get("nbgrader", {})
        name = details.get("grade_id")
        if name in checksums:
            details["checksum"] = checksums[name]
        if is_grade(cell):
            _require_known(name, grades)
            _write_score(grades[name], cell, name in same)
        if is_solution(cell) or is_task(cell):
            _require_known(name, comments)
            is_untouched = details.get("checksum") == compute_checksum(cell)
            says_so = is_untouched and not is_task(cell)
            comments[name].auto_comment = NO_RESPONSE if says_so else None


def _write_score(grade: Grade, cell: NotebookNode, is_same: bool) -> None:
    """Write a cell's automatic score, and whether a person must review it.

    If the answer is unchanged, a written answer keeps its score. If the automatic score
    is also unchanged, no new review is needed.
    """
    if grade.cell.max_score != cell.metadata.nbgrader["points"]:
        cell.metadata.nbgrader["points"] = grade.cell.max_score
    score, _ = determine_grade(cell)
    if is_same and is_solution(cell):
        score = grade.auto_score
    if not (is_same and score == grade.auto_score):
        is_given = grade.manual_score is not None
        grade.needs_manual_grade = is_given or score is None
    grade.auto_score = score


def _require_known(name: str, rows: Mapping[str, Any]) -> None:
    if name not in rows:
        raise MissingEntry(f"the gradebook does not know the cell {name}")


def _answers_file(root: Path, submission: Submission) -> Path:
    """Return the path of the file that records a student's answers when graded."""
    student = hashlib.sha256(submission.student.encode()).hexdigest()
    return root / ANSWERS / submission.slug / f"{student}.json"


def _answers_in(notebook: NotebookNode) -> dict[str, str]:
    """For each graded cell, return a digest of everything that affects its score.

    The score of a written answer depends on its text and pictures. Every other score
    depends on all code in the notebook.
    """
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return {
        cell.metadata.nbgrader["grade_id"]: _digest(
            [cell.source, cell.get("attachments")] if is_solution(cell) else code
        )
        for cell in notebook.cells
        if is_grade(cell)
    }


def _read(path: Path) -> dict[str, str]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def find_submission(
    session: Session, slug: str, student: str
) -> SubmittedAssignment | None:
    """Return the rows of a student's submission with all cells, or None."""
    rows = session.query(SubmittedAssignment).join(Assignment)
    rows = rows.filter(
        Assignment.name == slug, SubmittedAssignment.student_id == student
    )
    try:
        found = rows.one_or_none()
    except UnicodeEncodeError:  # no gradebook can store such a name
        return None
    for notebook in found.notebooks if found else ():
        fetch_cells(notebook.notebook)
    return found


def marks_of(session: Session, slug: str, student: str) -> Marks:
    """Read the marks of a student's submission for a unit."""
    found = find_submission(session, slug, student)
    return marks_in(found) if found else Marks()


def marks_in(submission: SubmittedAssignment) -> Marks:
    """Read the marks from the rows of a submission."""
    notebooks = submission.notebooks
    grades = [grade for notebook in notebooks for grade in notebook.grades]
    comments = [comment for notebook in notebooks for comment in notebook.comments]
    penalty = sum(notebook.late_submission_penalty or 0.0 for notebook in notebooks)
    scores = {
        grade.cell.name: None
        if grade.needs_manual_grade and grade.manual_score is None
        else _score(grade)
        for grade in grades
    }
    total = sum(score for score in scores.values() if score is not None)
    shown = [
        *([g.cell.name, *_points(g), g.cell.max_score] for g in grades),
        *([c.cell.name, c.auto_comment, c.manual_comment] for c in comments),
        ["late", penalty],
    ]
    return Marks(
        auto={
            grade.cell.name: grade.auto_score
            for grade in grades
            if grade.cell.name.endswith(CHECK_SUFFIX)
        },
        scores=scores,
        score=round(max(total - penalty, 0.0), 2),
        penalty=round(penalty, 2),
        awaits_a_human=any(grade.needs_manual_grade for grade in grades),
        is_by_hand=any(grade.manual_score is not None for grade in grades),
        shown=_digest(sorted(shown, key=repr)),
    )


def _points(grade: Grade) -> tuple[float | None, float | None, float | None]:
    return grade.auto_score, grade.manual_score, grade.extra_credit


def _score(grade: Grade) -> float:
    """Return a grade's score as the database computes it."""
    auto, manual, extra = _points(grade)
    given = auto if manual is None else manual
    return 0.0 if given is None else float(given + (extra or 0.0))


def scores_in_gradebook(db_url: str, slug: str) -> dict[str, float]:
    """Return each student's score for a unit from the gradebook."""
    with Gradebook(db_url) as gradebook:
        submissions = gradebook.assignment_submissions(slug)
        return {item.student.id: item.score for item in submissions}
