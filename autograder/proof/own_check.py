"""Count how many known wrong answers the learners' own check finds and names."""

import contextlib
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.course import Course, Unit
from autograder.grading.points import run_checks
from autograder.proof.judging import Proof, exercise_of, numbers_of, proof_of
from autograder.proof.variants.registry import Variant
from autograder.proof.variants.substitution import substitute
from autograder.self_study.learner import Learner
from autograder.self_study.report import first_cause, is_passed, report
from autograder.unit import cells_to_run, our_answers

CAUGHT, NAMED = 0.99, 0.90  # the smallest acceptable shares


@dataclass(frozen=True)
class OwnVerdict:
    """Hold the verdict of the learners' check on a notebook with one variant.

    Attributes:
        slug: the unit.
        variant: the variant that was checked.
        passes: whether all checks pass.
        is_named: whether the report shows the mistake in words.
    """

    slug: str
    variant: Variant
    passes: bool
    is_named: bool


@dataclass(frozen=True)
class Counts:
    """Count the known answers, and how the check judged them.

    `to_name` is the number of wrong answers whose mistake the check must name.
    """

    wrong: int
    caught: int
    to_name: int
    named: int
    right: int
    accepted: int

    @property
    def are_enough(self) -> bool:
        """Return whether enough are caught and named, and all right ones accepted."""
        return (
            self.caught >= CAUGHT * self.wrong
            and self.named >= NAMED * self.to_name
            and self.accepted == self.right
        )


def judge_own(
    course: Course, units: Sequence[Unit], only: str = "", most: int | None = None
) -> Iterator[OwnVerdict]:
    """Check notebooks with one variant each, like `python -m transformer.check`.

    Args:
        course: the course.
        units: the units.
        only: a part of the exercise's name or the variant's description.
        most: the maximum number of variants per unit, which are chosen at equal
            distances; None means all.
    """
    for unit in units:
        proof = proof_of(unit.slug, course.root)
        numbers = numbers_of(proof, only)
        step = math.ceil(len(numbers) / most) if most else 1
        for number in numbers[:: step or 1]:
            variant = proof.variants[number]
            yield OwnVerdict(unit.slug, variant, *_judged(proof, variant))


def _judged(proof: Proof, variant: Variant) -> tuple[bool, bool]:
    """Return whether all checks pass, and whether the report names the mistake.

    The checks of the other exercises take most of the time. They run only if the
    variant's own exercise passes.
    """
    cells = substitute(cells_to_run(proof.notebook), variant)
    answers = our_answers(proof.graded.answers, proof.notebook)
    exercise = exercise_of(proof.graded, variant)
    with contextlib.redirect_stdout(io.StringIO()):
        learner = Learner(cells, answers, lambda place: None)
        results = run_checks(proof.graded, learner, only={exercise})
        failed = [one for one in results if not is_passed(one)]
        if not failed:
            return all(map(is_passed, run_checks(proof.graded, learner))), False
    cause = first_cause(failed)
    shown = cause.message in report(results, proof.notebook, (), str)
    return False, shown and variant.names in (cause.mistake or "")


def counts_of(verdicts: Sequence[OwnVerdict]) -> Counts:
    """Count the verdicts on wrong and right answers."""
    wrong = [one for one in verdicts if one.variant.kind == "wrong"]
    right = [one for one in verdicts if one.variant.kind == "right"]
    to_name = [one for one in wrong if one.variant.diagnosed]
    return Counts(
        *(len(wrong), sum(not one.passes for one in wrong)),
        *(len(to_name), sum(one.is_named for one in to_name)),
        *(len(right), sum(one.passes for one in right)),
    )
