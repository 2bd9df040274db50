"""Bring the scores in the gradebook to what the course and its people say today."""

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import converter
from autograder.late_rule import renew_penalties
from autograder.unit import GradedUnit
from autograder.written.settling import Settled, settle


def bring_up_to_date(folder: ClassFolder, unit: GradedUnit) -> tuple[Settled, bool]:
    """Settle a unit's written answers, then its late penalties.

    Points and dates change by clicks too, which no command sees.

    Returns:
        How written answers count now, and whether a penalty has changed.
    """
    return settle(folder, unit), renew_penalties(converter(folder), unit.slug)
