"""Where a submission's points are decided: checks → points → caps → score.

`hidden_checks.py` says which checks there are and what each is worth, `running.py` runs
them. `run_checks` pays for what passed, and caps what was paid. Where an earlier
exercise is not right it does so once more, with the course's answer in its place, and
the better result counts. `score_of` adds it up. What is late loses points
afterwards, by nbgrader's late penalty.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from autograder.grading.hidden_checks import HiddenCheck, checks_with_points
from autograder.grading.running import (
    Ran,
    Status,
    Students,
    run_beside,
    run_exercise,
)
from autograder.phrases import Phrase
from autograder.unit import GradedUnit

NOT_WRITTEN = Phrase("This exercise is not written yet.")
ONLY_FORM = Phrase("This counts as soon as a check of the exercise's values passes.")
NOTHING_RUN = Phrase("Not run: the grader had a problem; tell your instructor.")


@dataclass(frozen=True)
class CheckResult:
    """What one hidden check gave.

    `message` says what was wrong, `hint` what to look at again; both are for the
    student. `mistake` is the phrase that names a recognised mistake. `mended` says that
    it failed with the student's earlier answers and passed with the course's.
    """

    exercise: str
    name: str
    title: str
    share: float
    points: float
    max_points: float
    status: Status
    message: str = ""
    hint: str = ""
    mistake: str | None = None
    mended: bool = False


def run_checks(
    unit: GradedUnit,
    students: Students,
    only: Collection[str] | None = None,
    unwritten: Collection[str] = (),
) -> list[CheckResult]:
    """Run every hidden check of `unit`, exercise by exercise, and pay for it.

    Args:
        unit: where the checks are and how many points each exercise has.
        students: gives each exercise its student; every `Student` does.
        only: the exercises to look at; None = all of them.
        unwritten: exercises known to be as they were handed out: they earn nothing.

    Returns:
        One result for each check, in the order of the notebook, whatever happens.
    """
    checks = checks_with_points(unit)
    results: list[CheckResult] = []
    for exercise, carried in unit.points.items():
        if only is not None and exercise not in only:
            continue
        own = [check for check in checks if check.marker.exercise == exercise]
        if exercise in unwritten:
            paid = _paid(carried, [Ran(one, "failed", NOT_WRITTEN) for one in own])
        else:
            may_mend = not _all_passed(results)
            paid = _paid_once(unit, students, own, may_mend)
        results += paid
    return results


def _paid_once(
    unit: GradedUnit,
    students: Students,
    checks: Sequence[HiddenCheck],
    may_mend: bool,
) -> list[CheckResult]:
    """Return the best of an exercise's results; what passes at once is not run again.

    If it `may_mend`, an earlier exercise is not right.
    """
    carried = unit.points[checks[0].marker.exercise]
    beside = run_beside(unit, students, checks)
    ran = run_exercise(unit, students, checks) if beside is None else beside
    paid, mended = _paid(carried, ran), []
    if may_mend and not _all_passed(paid):
        again = run_exercise(unit, students, checks, mended=True)
        mended = _paid(carried, again)
    settled = _all_passed(paid) or (mended and _all_passed(mended))
    if beside is not None and not settled:
        paid = _paid(carried, run_exercise(unit, students, checks))
    return _better(paid, mended) if mended else paid


def _all_passed(results: Sequence[CheckResult]) -> bool:
    return all(result.status == "passed" for result in results)


def _better(
    as_it_is: Sequence[CheckResult], mended: Sequence[CheckResult]
) -> list[CheckResult]:
    """Return the results that give more points; a mistake costs once.

    Args:
        as_it_is: an exercise's results with the student's earlier answers.
        mended: those with the course's in their place.
    """
    if score_of(mended) <= score_of(as_it_is):
        return list(as_it_is)
    return [
        replace(new, mended=new.status == "passed" != old.status)
        for old, new in zip(as_it_is, mended, strict=True)
    ]


# Points: all of a check's, or none.


def _paid(carried: float, ran: Sequence[Ran]) -> list[CheckResult]:
    """Pay for an exercise's checks, under every cap."""
    paid = [_pay(one) for one in ran]
    counted = _nothing_if_banned(ran, _unless_values_are_wrong(ran, paid))
    return _nothing_above(carried, counted)


def _pay(ran: Ran) -> CheckResult:
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


def nothing_run(unit: GradedUnit) -> list[CheckResult]:
    """Return the results of a submission that the grader could not run: no points."""
    return [
        replace(_pay(Ran(check, "not run", NOTHING_RUN)), hint="")
        for check in checks_with_points(unit)
    ]


# Caps: points that do not count after all.


def _unless_values_are_wrong(
    ran: Sequence[Ran], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Pay for outward form, and for what was only read, where some values are right."""
    if any(one.status == "passed" and _sees_values(one) for one in ran):
        return list(paid)
    return [
        replace(result, status="failed", points=0.0, message=ONLY_FORM)
        if result.status == "passed"
        else result
        for result in paid
    ]


def _sees_values(ran: Ran) -> bool:
    """Say whether a check called student's code and looked at more than its form."""
    return ran.calls > 0 and not ran.check.marker.form


def _nothing_if_banned(
    ran: Sequence[Ran], paid: Sequence[CheckResult]
) -> list[CheckResult]:
    """Pay nothing for an exercise that uses what is banned: it would be the answer."""
    titles = [one.check.marker.title for one in ran if one.forfeits]
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
    """Pay nothing if the checks give more than the graded cell carries.

    nbgrader refuses such a score.
    """
    if score_of(paid) <= carried:
        return list(paid)
    return [replace(result, points=0.0) for result in paid]


# Score: the sum.


def score_of(results: Sequence[CheckResult]) -> float:
    """Return the points that checks earned together, never more than they carry."""
    earned = round(sum(result.points for result in results), 2)
    return min(earned, max_score_of(results))


def max_score_of(results: Sequence[CheckResult]) -> float:
    """Return the points that there are for these checks."""
    return round(sum(result.max_points for result in results), 2)


def scores_of(results: Sequence[CheckResult]) -> dict[str, float]:
    """Return each exercise's score, in the order of the notebook."""
    exercises = dict.fromkeys(result.exercise for result in results)
    return {
        exercise: score_of([r for r in results if r.exercise == exercise])
        for exercise in exercises
    }
