"""The hidden checks grade known answers correctly: wrong ones, right ones, mutants."""

from dataclasses import replace

import pytest

from autograder.course import Unit, load_course
from autograder.proof.judging import (
    Proof,
    exercise_of,
    judge,
    judge_number,
    proof_of,
)
from autograder.proof.mutants import make_mutants
from autograder.proof.mutation import mutate_unit

COURSE = load_course()
WRITTEN = [unit for unit in COURSE.units if COURSE.variants_file(unit).exists()]
LINES_OF_A_PART = 200  # about twenty variants: few seconds, so that workers share them


def parts() -> list[tuple[str, int, int]]:
    """Divide each unit's variants into parts: slug, part number, number of parts."""
    return [
        (unit.slug, part, number)
        for unit in WRITTEN
        for lines in [COURSE.variants_file(unit).read_text("utf-8").count("\n")]
        for number in [lines // LINES_OF_A_PART + 1]
        for part in range(number)
    ]


@pytest.mark.integration
@pytest.mark.parametrize(("slug", "part", "number"), parts())
def test_every_variant_is_judged_rightly(slug: str, part: int, number: int) -> None:
    variants = proof_of(slug, COURSE.root).variants
    problems = [
        problem
        for place in range(part, len(variants), number)
        for problem in judge_number(COURSE.root, (slug, place)).problems
    ]
    assert not problems, "\n".join(["", *problems])


@pytest.mark.integration
def test_a_misjudged_variant_is_reported() -> None:
    """A right answer marked as wrong, a mistake with another name, and the reverse."""
    proof = proof_of(COURSE.unit("07").slug, COURSE.root)
    right = next(v for v in proof.variants if v.kind == "right")
    wrong = [v for v in proof.variants if v.kind == "wrong" and v.diagnosed][-1]
    assert judge(proof, replace(right, kind="wrong")).slips == ("no check fails",)
    [slip] = judge(proof, replace(wrong, names="another mistake")).slips
    assert slip.startswith("was not named; the checks named: ")
    assert judge(proof, replace(wrong, kind="right")).slips


@pytest.fixture(scope="module", params=WRITTEN, ids=lambda unit: unit.slug)
def proof(request: pytest.FixtureRequest) -> Proof:
    unit: Unit = request.param
    return proof_of(unit.slug, COURSE.root)


def test_every_exercise_has_variants_of_both_kinds(proof: Proof) -> None:
    found = {(exercise_of(proof.graded, v), v.kind) for v in proof.variants}
    exercises = proof.graded.points
    assert found == {(one, kind) for one in exercises for kind in ("wrong", "right")}


def test_nine_mistakes_in_ten_must_be_named(proof: Proof) -> None:
    wrong = [variant for variant in proof.variants if variant.kind == "wrong"]
    assert sum(variant.diagnosed for variant in wrong) >= 0.9 * len(wrong)


@pytest.mark.integration
def test_mutants_die() -> None:
    unit = COURSE.unit("04")
    verdicts = mutate_unit(COURSE, unit)
    living = [f"{v.exercise}: {v.change}" for v in verdicts if not v.killed]
    unexplained = [v for v in verdicts if not v.killed and not v.why]
    assert len(unexplained) <= 0.05 * len(verdicts), living


def test_a_mutant_changes_one_place_between_the_markers() -> None:
    cell = """def f(x):
    y = x + 1
    ### BEGIN SOLUTION
    return y * 2 if x > 0 else -y
    ### END SOLUTION
"""
    changes = {mutant.change for mutant in make_mutants(cell)}
    assert changes == {
        "y * 2 -> y / 2",
        "2 -> 3",
        "2 -> 1",
        "x > 0 -> x >= 0",
        "0 -> 1",
        "0 -> -1",
        "-y -> +y",
        "y * 2 if x > 0 else -y -> -y if x > 0 else y * 2",
    }
