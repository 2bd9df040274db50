"""Rebuild a submission on the notebook that was released in its language."""

from collections.abc import Sequence

from autograder.grading.language import in_language_of
from autograder.phrases import Phrase
from autograder.repair import Refused, Repaired, SubmittedCell, rebuild
from autograder.unit import GradedUnit


def rebuild_as_own(unit: GradedUnit, cells: Sequence[SubmittedCell]) -> Repaired:
    """Copy a submission's answers into the notebook released in its language.

    Raises:
        Refused: if it contains no answers, or only answers of another unit.
    """
    repaired = rebuild(in_language_of(unit, cells), cells)
    if set(unit.points) <= repaired.unwritten and _has_others_exercises(unit, cells):
        raise Refused(
            Phrase(
                "its exercises are not those of {unit}: it is the notebook of another "
                "unit",
                unit.slug,
            )
        )
    return repaired


def _has_others_exercises(unit: GradedUnit, cells: Sequence[SubmittedCell]) -> bool:
    """Return whether cells have exercise names, but none of this unit."""
    known = {False: set[str](), True: set[str]()}
    for cell in unit.released.cells:
        details = cell.metadata.get("nbgrader", {})
        if "grade_id" in details:
            is_answered = any(
                details.get(kind) for kind in ("grade", "solution", "task")
            )
            known[is_answered].add(details["grade_id"])
    theirs = {cell.grade_id for cell in cells if cell.grade_id} - known[False]
    return bool(theirs) and not theirs & known[True]
