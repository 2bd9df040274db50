"""The alignment error rate, by hand and by its properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.experiments.complexity import alignment_error_rate

LINKS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


def test_alignment_error_rate_by_hand():
    sure, possible = {(0, 0), (1, 2)}, {(0, 0), (1, 2), (2, 1), (2, 3)}
    predicted = {(0, 0), (2, 1), (3, 3)}
    # |A ∩ S| = 1, |A ∩ P| = 2, |A| = 3, |S| = 2
    assert alignment_error_rate(predicted, sure, possible) == pytest.approx(1 - 3 / 5)


@given(LINKS, LINKS, LINKS)
def test_alignment_error_rate_is_0_when_all_sure_and_only_possible_links_are_there(
    sure, extra, more
):
    predicted, possible = sure | extra, sure | extra | more
    if predicted:
        assert alignment_error_rate(predicted, sure, possible) == 0.0
    if predicted - sure:
        assert alignment_error_rate(predicted, sure, sure) > 0.0


@given(LINKS, LINKS)
def test_alignment_error_rate_is_1_minus_the_f_measure_without_doubtful_links(a, s):
    if a and s:
        precision, recall = len(a & s) / len(a), len(a & s) / len(s)
        mean = 2 * precision * recall / (precision + recall) if a & s else 0.0
        assert alignment_error_rate(a, s, s) == pytest.approx(1 - mean)


@given(LINKS, LINKS, LINKS)
def test_alignment_error_rate_lies_between_0_and_1(predicted, sure, extra):
    if predicted or sure:
        rate = alignment_error_rate(predicted, sure, sure | extra)
        assert 0 <= rate <= 1
        assert rate <= alignment_error_rate(predicted, sure, sure)


def test_nothing_predicted_and_nothing_right_are_both_as_bad_as_can_be():
    assert alignment_error_rate(set(), {(0, 0)}, {(0, 0)}) == 1.0
    assert alignment_error_rate({(1, 1)}, {(0, 0)}, {(0, 0)}) == 1.0


@pytest.mark.parametrize(
    ("predicted", "sure", "possible", "error", "message"),
    [
        ([(0, 0)], {(0, 0)}, {(0, 0)}, TypeError, "predicted to be a set.*list"),
        ({(0, 0)}, ((0, 0),), {(0, 0)}, TypeError, "sure to be a set.*tuple"),
        ({(0, 0)}, {(0, 0)}, None, TypeError, "possible to be a set.*NoneType"),
        ({(0, 0)}, {(0, 0), (1, 2)}, {(0, 0)}, ValueError, r"\(1, 2\) in sure alone"),
        (set(), set(), {(0, 0)}, ValueError, "none predicted and none sure"),
    ],
)
def test_alignment_error_rate_names_what_is_wrong(
    predicted, sure, possible, error, message
):
    with pytest.raises(error, match=message):
        alignment_error_rate(predicted, sure, possible)
