"""What the gradebook holds of one submission."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from nbgrader.api import (
    Grade,
    Gradebook,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy.orm import object_session, undefer
from sqlalchemy.orm.attributes import set_committed_value

from autograder.gradebook import fetch_cells
from autograder.unit import CHECK_SUFFIX


@dataclass(frozen=True)
class Marks:
    """What the gradebook holds of one submission; nothing if it does not know it.

    Attributes:
        auto: the automatic score of each cell that hidden checks grade.
        scores: each graded cell's score; None where a human must give it.
        score: all of them together, less a late penalty.
        penalty: what being late took.
        awaits_a_human: whether something must be graded by hand, or looked at again.
        is_by_hand: whether a human gave points for anything.
        shown: A digest of everything that its feedback shows.
    """

    auto: Mapping[str, float | None] = field(default_factory=dict)
    scores: Mapping[str, float | None] = field(default_factory=dict)
    score: float = 0.0
    penalty: float = 0.0
    awaits_a_human: bool = False
    is_by_hand: bool = False
    shown: str = ""


def marks_of(gradebook: Gradebook, slug: str, student: str) -> Marks:
    """Read what the gradebook holds of a student's submission of a unit."""
    try:
        found = gradebook.find_submission(slug, student)
    except (MissingEntry, UnicodeEncodeError):  # no gradebook takes such a name
        return Marks()
    for notebook in found.notebooks:
        load_cells(notebook)
    grades = [grade for notebook in found.notebooks for grade in notebook.grades]
    scores = {
        grade.name: None
        if grade.needs_manual_grade and grade.manual_score is None
        else float(grade.score)
        for grade in grades
    }
    total = sum(score for score in scores.values() if score is not None)
    penalty = float(found.late_submission_penalty or 0.0)
    return Marks(
        auto={
            grade.name: grade.auto_score
            for grade in grades
            if grade.name.endswith(CHECK_SUFFIX)
        },
        scores=scores,
        score=round(max(total - penalty, 0.0), 2),
        penalty=round(penalty, 2),
        awaits_a_human=any(grade.needs_manual_grade for grade in grades),
        is_by_hand=any(grade.manual_score is not None for grade in grades),
        shown=_shown(found),
    )


def load_cells(notebook: SubmittedNotebook) -> None:
    """Fetch the cells of a notebook together, and what each of them is worth."""
    fetch_cells(notebook.notebook)
    if session := object_session(notebook):
        worth = session.query(Grade).options(undefer(Grade.max_score))
        grades = worth.filter(Grade.notebook_id == notebook.id).all()
        set_committed_value(notebook, "grades", grades)


def _shown(found: SubmittedAssignment) -> str:
    """Return a digest of the marks and comments that a submission's feedback shows."""
    grades = [grade for notebook in found.notebooks for grade in notebook.grades]
    comments = [item for notebook in found.notebooks for item in notebook.comments]
    shown = [
        [g.name, g.auto_score, g.manual_score, g.extra_credit, g.max_score]
        for g in grades
    ] + [[c.name, c.auto_comment, c.manual_comment] for c in comments]
    shown.append(["late", found.late_submission_penalty or 0.0])
    text = json.dumps(sorted(shown, key=repr))
    return hashlib.sha256(text.encode()).hexdigest()
