"""The check catches the known wrong answers, and names most of their mistakes."""

from __future__ import annotations

import contextlib
import io

import pytest

from autograder.course import load_course
from autograder.grading.points import run_checks
from autograder.proof.judging import exercise_of, numbers_of, proof_of
from autograder.proof.variants.substitution import substitute
from autograder.self_study.learner import Learner
from autograder.self_study.report import first_cause, is_passed, report
from autograder.unit import cells_to_run, our_answers

COURSE = load_course()
CAUGHT, NAMED = 0.99, 0.90


def judged(slug: str, number: int) -> tuple[str, bool, bool]:
    """Return a variant's kind, whether all checks pass, and whether a check names it.

    If the hidden checks need not name a mistake, its kind is "unnamed".
    """
    proof = proof_of(slug, COURSE.root)
    variant = proof.variants[number]
    cells = substitute(cells_to_run(proof.notebook), variant)
    answers = our_answers(proof.graded.answers, proof.notebook)
    with contextlib.redirect_stdout(io.StringIO()):
        learner = Learner(cells, answers, lambda place: None)
        results = run_checks(proof.graded, learner)
    is_unnamed = variant.kind == "wrong" and not variant.diagnosed
    kind = "unnamed" if is_unnamed else variant.kind
    exercise = exercise_of(proof.graded, variant)
    failed = [r for r in results if r.exercise == exercise and not is_passed(r)]
    if not failed:
        return kind, all(map(is_passed, results)), False
    cause = first_cause(failed)
    shown = cause.message in report(results, proof.notebook, (), str)
    return kind, False, shown and variant.names in (cause.mistake or "")


def require_counts(slugs: list[str], step: int) -> None:
    """Check each variant whose number is a multiple of `step`, and count results."""
    found = [
        judged(slug, number)
        for slug in slugs
        for number in numbers_of(proof_of(slug, COURSE.root))[::step]
    ]
    wrong = [passes for kind, passes, _ in found if kind != "right"]
    right = [passes for kind, passes, _ in found if kind == "right"]
    to_name = [is_named for kind, _, is_named in found if kind == "wrong"]
    caught = sum(not passes for passes in wrong) / len(wrong)
    named = sum(to_name) / len(to_name)
    assert all(right)
    counts = f"of {len(wrong)} wrong answers: {caught:.1%} caught, {named:.1%} named"
    print(counts)
    assert caught >= CAUGHT and named >= NAMED, counts


@pytest.mark.integration
def test_a_few_of_the_known_mistakes_of_a_unit_are_caught_and_named() -> None:
    require_counts(["07_masks"], 20)


@pytest.mark.integration
@pytest.mark.slow
def test_a_part_of_the_known_mistakes_of_seven_units_is_caught_and_named() -> None:
    require_counts([unit.slug for unit in COURSE.units[:7]], 24)
