"""The hidden checks judge known answers rightly: wrong ones, right ones, mutants."""

import os
from collections.abc import Mapping

import pytest
from remembered_draws import remember_draws

from autograder.commands.verify import problems_of
from autograder.course import Unit, load_course
from autograder.proof.judging import Tally, variants_file, verify_unit
from autograder.proof.mutants import make_mutants
from autograder.proof.mutation import mutate_unit
from autograder.proof.record import Found, counted, found_before
from autograder.unit import graded_unit

COURSE = load_course()
SPOT_CHECK = 25  # of a unit whose record holds every 25th variant is judged again
ENOUGH_SEEDS = 50
WRITTEN = [unit for unit in COURSE.units if variants_file(COURSE, unit).exists()]
# `course verify --seeds 50 --record` is the proof; here there is time for less.
SEEDS = int(os.environ.get("COURSE_SEEDS", "2"))


@pytest.fixture(scope="module", params=WRITTEN, ids=lambda unit: unit.slug)
def unit(request: pytest.FixtureRequest) -> Unit:
    return request.param


@pytest.fixture(scope="module")
def found(unit: Unit) -> Found | None:
    """Give what the record says of the unit, unless something changed since."""
    return found_before(COURSE, unit)


@pytest.fixture(scope="module")
def tallies(unit: Unit, found: Found | None) -> list[Tally]:
    with pytest.MonkeyPatch.context() as patch:
        remember_draws(graded_unit(unit.slug, COURSE.root), patch)
        every = 1 if found is None else SPOT_CHECK
        return verify_unit(COURSE, unit, SEEDS, every=every)


@pytest.fixture(scope="module")
def counts(tallies: list[Tally], found: Found | None) -> list[Mapping[str, int]]:
    rows = found.exercises if found else counted(tallies)
    return list(rows.values())


@pytest.mark.integration
def test_every_variant_is_judged_rightly(unit: Unit, tallies: list[Tally]) -> None:
    assert problems_of({unit.slug: tallies}) == []


@pytest.mark.integration
def test_there_are_enough_variants(counts: list[Mapping[str, int]]) -> None:
    assert all(row["wrong"] and row["right"] for row in counts), counts


@pytest.mark.integration
def test_nine_mistakes_in_ten_are_named(counts: list[Mapping[str, int]]) -> None:
    wrong = sum(row["wrong"] for row in counts)
    assert sum(row["named"] for row in counts) >= 0.9 * wrong


def test_what_is_recorded_was_judged_often_enough() -> None:
    known = [found for unit in WRITTEN if (found := found_before(COURSE, unit))]
    assert all(found.seeds >= ENOUGH_SEEDS for found in known)


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


def test_what_a_variant_keeps_is_gone_at_the_next_seed() -> None:
    unit = COURSE.unit("01")
    only = "concat-final-states: kept by shape"
    found = verify_unit(COURSE, unit, 2, only=only)
    (keeps,) = [verdict for exercise in found for verdict in exercise.verdicts]
    assert keeps.spread == 0, keeps.counted
    assert not keeps.slips
