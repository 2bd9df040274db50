"""Bring late penalties to the rules, the extensions and the points of today.

nbgrader takes a penalty once, when it autogrades: before a human gives points.
"""

from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Any as AnyTrait
from traitlets.config import LoggingConfigurable

from autograder.classroom.folder import ClassFolder
from autograder.gradebook import submissions_in_turn


class NoDueDateError(ValueError):
    """An extension of no due date: nbgrader fails wherever it meets one."""


class _Above(LoggingConfigurable):
    """What a penalty's plugin finds above it."""

    coursedir = AnyTrait()


def renew_penalties(folder: ClassFolder, slug: str) -> bool:
    """Compute every penalty of a unit anew; say whether one has changed."""
    above = _Above(config=folder.config, coursedir=folder.coursedir)
    step = AssignLatePenalties(parent=above)
    step.init_plugin()
    with Gradebook(folder.db_url) as gradebook:
        submissions = submissions_in_turn(gradebook, slug)
        try:
            changed = [_renew(step, submission) for submission in submissions]
        except MissingEntry:
            return False
        gradebook.db.commit()
    return any(changed)


def _renew(step: AssignLatePenalties, submission: Any) -> bool:
    """Compute one submission's penalty anew; say whether it has changed."""
    is_due = submission.assignment.duedate is not None  # else nbgrader fails
    late, changed = submission.total_seconds_late if is_due else 0, False
    for notebook in submission.notebooks:
        penalty = None
        if late > 0:
            penalty = step.plugin_inst.late_submission_penalty(
                submission.student.id, notebook.score, late
            )
        if penalty is not None:
            penalty = step._check_late_penalty(notebook, penalty)
        changed |= (notebook.late_submission_penalty or 0) != (penalty or 0)
        notebook.late_submission_penalty = penalty
    return changed


def extend(
    folder: ClassFolder, slug: str, student: str, days: float
) -> datetime | None:
    """Let a student hand in so many days later than the others.

    Returns:
        When the student's work is due, in UTC, if a date is set.

    Raises:
        MissingEntry: if the gradebook does not know the student or the unit.
        NoDueDateError: if there is nothing to extend; nothing is written then.
    """
    with Gradebook(folder.db_url) as gradebook:
        gradebook.find_student(student)
        if days and gradebook.find_assignment(slug).duedate is None:
            raise NoDueDateError
        submission = gradebook.update_or_create_submission(slug, student)
        submission.extension = timedelta(days=days) if days else None
        gradebook.db.commit()
        return submission.duedate
