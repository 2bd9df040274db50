"""Damaged notebooks get the right score, or are refused with a reason."""

import json

import pytest
from class_of_cases import (
    GradedClass,
    copied,
    grade_class,
    hand_in,
    places_of_its_own,
)
from damaged import DAMAGED
from handing_in import Case

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
REPAIRED = [case for case in DAMAGED if case.score is not None]


@pytest.fixture(scope="module")
def graded(tiny_root, tmp_path_factory) -> GradedClass:
    """Grade the damaged notebooks as one class."""
    folder = tmp_path_factory.mktemp("damaged")
    with places_of_its_own(folder):
        root = copied(tiny_root, folder)
        return grade_class(root, hand_in(root, DAMAGED), feedback=False)


def by_name(cases: list[Case]) -> pytest.MarkDecorator:
    """Run a test for each case."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def test_there_are_enough_kinds():
    assert len({case.name for case in DAMAGED}) == len(DAMAGED) >= 30


@by_name(DAMAGED)
def test_it_has_its_score_or_a_reason(case: Case, graded: GradedClass):
    outcome = graded.outcome(case)
    if case.score is None:
        assert outcome.status == "refused"
        assert case.says in outcome.reason
        return
    assert outcome.status == "graded", outcome.reason
    assert graded.score(case) == case.score, (outcome.notes, outcome.results)
    assert case.says in "; ".join(outcome.notes)


def test_nearly_all_that_can_be_repaired_get_the_right_score(graded: GradedClass):
    right = [case for case in REPAIRED if graded.score(case) == case.score]
    assert len(right) >= 0.95 * len(REPAIRED)


def test_no_zero_is_silent(graded: GradedClass):
    for case in DAMAGED:
        outcome = graded.outcome(case)
        assert graded.score(case) > 0 or outcome.status == "refused", case.name
        assert outcome.status != "refused" or len(outcome.reason) > 10


def test_the_batch_goes_on_and_every_row_is_there(graded: GradedClass):
    assert set(graded.outcomes) == set(graded.students.values())
    assert set(graded.scores) == set(graded.students.values())
    log = (graded.root / "grading" / "audit.jsonl").read_text().splitlines()
    lines = {line["student"]: line for line in map(json.loads, log)}
    for case in DAMAGED:
        line = lines[graded.students[case.name]]
        assert line["status"] == ("refused" if case.score is None else "graded")
        assert line["status"] == "graded" or line["reason"]


def test_what_was_repaired_is_said(graded: GradedClass):
    silent = {
        case.name
        for case in REPAIRED
        if not graded.outcome(case).notes and _is_about_answers(case)
    }
    assert not silent


def _is_about_answers(case: Case) -> bool:
    """Tell whether the repair had to look for an answer."""
    return case.name in {
        *("repeated-answer", "answer-as-markdown", "split-body", "rewritten-elsewhere"),
        *("merged-answers", "all-in-one-cell", "no-metadata-no-ids", "colab"),
    }
