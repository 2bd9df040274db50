"""Update the scores in the gradebook after changes to settings, points and dates."""

import contextlib

from nbgrader.api import Assignment, SubmittedAssignment

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import converter
from autograder.collect.submission_store import SubmissionStore
from autograder.gradebook import open_session, open_transaction
from autograder.late_rule import renew_penalties
from autograder.marks import time_in
from autograder.unit import GradedUnit
from autograder.written.settling import Settled, settle


def bring_up_to_date(folder: ClassFolder, unit: GradedUnit) -> tuple[Settled, bool]:
    """Update a unit's times, written answers and late penalties in the gradebook.

    This is needed before each report, because points and dates can be changed in
    formgrader, where no command notices the change.

    Returns:
        How written answers now count, and whether a penalty has changed.
    """
    renew_times(folder, unit.slug)
    return settle(folder, unit), renew_penalties(converter(folder), unit.slug)


def renew_times(folder: ClassFolder, slug: str) -> None:
    """Write the time of each submission of a unit into the gradebook.

    Some platforms report only whether work was late. In this case, the time is computed
    from the due date, which may have changed. An unreadable time changes nothing.
    """
    submitted = folder.root / folder.coursedir.submitted_directory
    known = SubmittedAssignment.student_id, SubmittedAssignment.timestamp
    with open_session(folder.db_url) as session:
        rows = session.query(*known).join(Assignment)
        rows = rows.filter(Assignment.name == slug)
        due = session.query(Assignment.duedate).filter_by(name=slug).scalar()
        before = {student: time for student, time in rows}
    changed = {}
    for student, time in before.items():
        store = SubmissionStore(folder.root, submitted, student, slug)
        store.renew_time(due)
        with contextlib.suppress(ValueError):
            now = time_in(store.notebook.parent) or time
            if now != time:
                changed[student] = now
    if not changed:
        return
    with open_transaction(folder.db_url) as session:
        of_unit = session.query(SubmittedAssignment).join(Assignment)
        for row in of_unit.filter(Assignment.name == slug):
            row.timestamp = changed.get(row.student_id, row.timestamp)


def untimed(folder: ClassFolder, slug: str) -> int:
    """Count a unit's submissions without a time; 0 if the unit has no due date."""
    with open_session(folder.db_url) as session:
        rows = session.query(SubmittedAssignment).join(Assignment)
        rows = rows.filter(Assignment.name == slug, Assignment.duedate.is_not(None))
        return rows.filter(SubmittedAssignment.timestamp.is_(None)).count()
