"""The check catches the known wrong answers, and names most of their mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from autograder.checking.generic_checks import FIXED, KEPT
from autograder.commands.app import app
from autograder.course import Unit, load_course
from autograder.proof.own_check import Counts, counts_of, judge_own
from autograder.self_study.report import first_cause

COURSE = load_course()
ENOUGH = Counts(wrong=100, caught=99, to_name=50, named=45, right=7, accepted=7)


def require_counts(units: Sequence[Unit], most: int) -> None:
    """Judge at most `most` answers of each unit, and require enough of all of them."""
    verdicts = list(judge_own(COURSE, units, most=most))
    assert len(units) <= len(verdicts) <= most * len(units)
    counts = counts_of(verdicts)
    assert counts.wrong > len(units)
    assert counts.are_enough, counts


@pytest.mark.parametrize(
    "fewer", [{"caught": 98}, {"named": 44}, {"accepted": 6}], ids=str
)
def test_one_fewer_is_not_enough(fewer: dict[str, int]) -> None:
    assert ENOUGH.are_enough
    assert not replace(ENOUGH, **fewer).are_enough


@pytest.mark.parametrize(("last", "first"), [(FIXED, "zeros"), (KEPT, KEPT)], ids=str)
def test_only_a_result_that_is_surely_kept_is_named_first(last, first) -> None:
    failed = [
        SimpleNamespace(mistake=mistake, max_points=1) for mistake in ("zeros", last)
    ]
    assert first_cause(failed).mistake == first  # type: ignore[arg-type]


@pytest.mark.integration
def test_a_few_of_the_known_mistakes_of_a_unit_are_caught_and_named() -> None:
    require_counts([COURSE.unit("07")], 8)


@pytest.mark.integration
@pytest.mark.slow
def test_a_few_of_the_known_mistakes_of_each_unit_are_caught_and_named() -> None:
    require_counts(COURSE.units, 3)


@pytest.mark.integration
def test_the_command_prints_the_shares_of_a_unit() -> None:
    arguments = ["verify", "--self-study", "04", "--only", "the division by"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "04_attention" in done.output and "100.0%" in done.output
