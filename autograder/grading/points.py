"""Compute a submission's points: checks → points → caps → score.

`hidden_checks.py` lists the checks and their points, and `running.py` runs them.
`run_checks` decides in which processes they run, gives each passed check its points,
and limits the points of an exercise. `check_results.py` adds the points. nbgrader
subtracts the late penalty afterwards.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from autograder.checking.behaviour import looks_like
from autograder.grading.check_results import CheckResult, score_of
from autograder.grading.hidden_checks import HiddenCheck, checks_with_points
from autograder.grading.running import (
    CheckRun,
    Students,
    run_as_handed_in,
    run_exercise,
)
from autograder.phrases import Phrase
from autograder.unit import GradedUnit

NOT_WRITTEN = Phrase("This exercise is not written yet.")
ONLY_FORM = Phrase("This counts as soon as a check of the exercise's values passes.")
NOTHING_RUN = Phrase("Not run: the grader had a problem; tell your instructor.")


def run_checks(
    unit: GradedUnit,
    students: Students,
    only: Collection[str] | None = None,
    unwritten: Collection[str] = (),
) -> list[CheckResult]:
    """Run every hidden check of `unit`; the best run of each exercise counts.

    Args:
        unit: the unit with the checks and the points of each exercise.
        students: provides a student for each exercise.
        only: the exercises to check, or None for all.
        unwritten: exercises whose answer cells are unchanged. They earn no points.

    Returns:
        One result for each check, in the order of the notebook, even after an error.
    """
    checks: dict[str, list[HiddenCheck]] = {}
    for check in checks_with_points(unit):
        if only is None or check.marker.exercise in only:
            checks.setdefault(check.marker.exercise, []).append(check)
    exercises = [exercise for exercise in unit.points if exercise in checks]

    # First, check every exercise after all cells have run.
    best: dict[str, list[CheckResult]] = {}
    for exercise in exercises:
        own, carried = checks[exercise], unit.points[exercise]
        if exercise in unwritten:
            runs = [CheckRun(check, "failed", NOT_WRITTEN) for check in own]
        else:
            runs = run_as_handed_in(unit, students, own)
        best[exercise] = pay(carried, runs)
    wrong = [exercise for exercise in exercises if not _all_passed(best[exercise])]
    again = [exercise for exercise in wrong if exercise not in unwritten]

    # Because a later cell may overwrite an answer, check each failed exercise again
    # after only the cells before its check.
    for exercise in again:
        own, carried = checks[exercise], unit.points[exercise]
        runs = run_exercise(unit, students.up_to_check, own)
        paid = pay(carried, runs)
        if score_of(paid) > score_of(best[exercise]):
            best[exercise] = paid

    # A mistake should cost points only once, so later exercises also run with the
    # course's earlier answers. The student's code can read these answers, so keep only
    # the names of the passed checks.
    for exercise in again:
        if exercise == wrong[0] or _all_passed(best[exercise]):
            continue
        own, carried = checks[exercise], unit.points[exercise]
        runs = run_exercise(unit, students.with_reference_answers, own)
        passed = {one.name for one in pay(carried, runs) if one.status == "passed"}
        best[exercise] = [
            _passed_with_reference_answers(one) if one.name in passed else one
            for one in best[exercise]
        ]
    return [result for exercise in exercises for result in best[exercise]]


def _all_passed(results: Sequence[CheckResult]) -> bool:
    return all(result.status == "passed" for result in results)


def _passed_with_reference_answers(result: CheckResult) -> CheckResult:
    """Give points to a check that passed with the course's earlier answers."""
    if result.status == "passed":
        return result
    return replace(
        result,
        status="passed",
        points=result.max_points,
        message="",
        hint="",
        mistake=None,
        with_reference_answers=True,
    )


# Points: a check earns either all of its points or none.


def pay(carried: float, ran: Sequence[CheckRun]) -> list[CheckResult]:
    """Compute the points of an exercise's checks, and apply every cap."""
    paid = _with_guess(ran, [_pay_one(one) for one in ran])
    counted = _nothing_if_banned(ran, _unless_values_are_wrong(ran, paid))
    return _nothing_above(carried, counted)


def _pay_one(ran: CheckRun) -> CheckResult:
    marker, passed = ran.check.marker, ran.status == "passed"
    return CheckResult(
        exercise=marker.exercise,
        name=ran.check.name,
        title=marker.title,
        share=marker.share,
        points=ran.check.max_points if passed else 0.0,
        max_points=ran.check.max_points,
        status=ran.status,
        message=ran.message,
        hint="" if passed else marker.hint,
        mistake=ran.mistake,
    )


def _with_guess(
    ran: Sequence[CheckRun], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Name a guessed mistake if it explains every failed check of values.

    A guess explains a failed check that has the same guess, or an error in the same
    line.
    """
    places = {one.place: one.guess for one in ran if one.place and one.guess}
    failed = [one for one in ran if one.status != "passed"]
    values = [one for one in failed if not one.check.marker.form] or failed
    guesses = {one.guess or one.mistake or places.get(one.place) for one in values}
    guess = guesses.pop() if len(guesses) == 1 else None
    return [
        replace(result, message=looks_like(result.message, guess), mistake=guess)
        if guess and one.guess == guess
        else result
        for one, result in zip(ran, paid, strict=True)
    ]


def nothing_run(unit: GradedUnit) -> list[CheckResult]:
    """Return results without points; the grader could not run the submission."""
    return [
        replace(_pay_one(CheckRun(check, "not run", NOTHING_RUN)), hint="")
        for check in checks_with_points(unit)
    ]


# Caps: rules by which points do not count.


def _unless_values_are_wrong(
    ran: Sequence[CheckRun], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Count checks of form and of source code only if a check of values passed."""
    if any(one.status == "passed" and _sees_values(one) for one in ran):
        return list(paid)
    return [
        replace(result, status="failed", points=0.0, message=ONLY_FORM)
        if result.status == "passed"
        else result
        for result in paid
    ]


def _sees_values(ran: CheckRun) -> bool:
    """Return whether a check called the student's code and compared values."""
    return ran.calls > 0 and not ran.check.marker.form


def _nothing_if_banned(
    ran: Sequence[CheckRun], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Remove all points if the answer of an exercise uses a banned built-in."""
    titles = [one.check.marker.title for one in ran if one.disqualifies]
    if not titles:
        return list(paid)
    words = Phrase(
        "Does not count: this exercise uses what you were asked to write yourself; see "
        "“{title}”.",
        titles[0],
    )
    return [
        replace(result, status="failed", points=0.0, message=words)
        if result.status == "passed"
        else result
        for result in paid
    ]


def _nothing_above(carried: float, paid: Sequence[CheckResult]) -> list[CheckResult]:
    """Remove all points if the checks give more than the graded cell's maximum.

    nbgrader refuses such a score.
    """
    if score_of(paid) <= carried:
        return list(paid)
    return [replace(result, points=0.0) for result in paid]
