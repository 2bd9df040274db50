"""The figures of unit 12 run, show their data, and refuse other data."""

import numpy as np
import pytest
import torch

from transformer.data import RUNNING_EXAMPLE, SentencePair
from transformer.experiments.layer_timing import Measurement
from transformer.plots.complexity import (
    both_rows_of_a_head,
    connected,
    costs_and_times,
    error_rates_of_heads,
    shares_of_heads,
    where_pronouns_look,
)

LENGTHS = (16, 32, 64)
COSTS = {"self_attention": [1, 4, 16], "recurrent": [4, 8, 16]}
MEASURED = [
    Measurement(kind, n, 1e-3 * cost)
    for kind, costs in COSTS.items()
    for n, cost in zip(LENGTHS, costs, strict=True)
]


def lines_of(axes) -> dict[str, list[float]]:
    lines = [line for line in axes.lines if len(line.get_xdata()) == len(LENGTHS)]
    return {line.get_label(): list(line.get_ydata()) for line in lines}


@pytest.mark.integration
def test_costs_and_times_are_drawn_as_they_are():
    picture = costs_and_times(COSTS, MEASURED, 64, crossing=50.0)
    assert "<svg" in picture._repr_svg_()
    predicted, measured = (lines_of(axes) for axes in picture.axes)
    assert predicted["self attention"] == [1e-6, 4e-6, 16e-6]
    assert measured["recurrent"] == pytest.approx([4, 8, 16])  # milliseconds
    texts = [[text.get_text() for text in axes.texts] for axes in picture.axes]
    assert texts == [["crossing at n = 64"], ["crossing at n = 50"]]


@pytest.mark.integration
def test_no_crossing_is_no_mark():
    picture = costs_and_times(COSTS, MEASURED, 64, crossing=None)
    assert "<svg" in picture._repr_svg_()
    assert not picture.axes[1].texts


def test_a_missing_measurement_is_refused():
    with pytest.raises(ValueError, match="one measurement of recurrent at n = 64"):
        costs_and_times(COSTS, MEASURED[:-1], 64, None)
    short = {**COSTS, "recurrent": [4, 8]}
    with pytest.raises(ValueError, match="recurrent for each of 3 lengths, found 2"):
        costs_and_times(short, MEASURED, 64, None)


def test_a_grid_says_whether_the_ends_are_connected():
    reach = {"recurrent": torch.ones(5, 5).tril(), "self_attention": torch.eye(5)}
    picture = connected(reach, "Two kinds")
    assert "<svg" in picture._repr_svg_()
    assert [axes.get_title(loc="left") for axes in picture.axes] == [
        "recurrent\nconnected",
        "self attention\nnot connected",
    ]
    shown = np.asarray(picture.axes[0].images[0].get_array())
    assert (shown == np.tri(5)).all()


@pytest.mark.integration
def test_both_rows_are_drawn_with_the_alignment():
    t, s = len(RUNNING_EXAMPLE.tgt), len(RUNNING_EXAMPLE.src)
    picture = both_rows_of_a_head(
        torch.rand(t, s), torch.rand(t, s), RUNNING_EXAMPLE, "A head"
    )
    assert "<svg" in picture._repr_svg_()
    for axes in picture.axes[:2]:
        places = {
            (round(p.get_x() + 0.46), round(p.get_y() + 0.46)) for p in axes.patches
        }
        assert places == set(RUNNING_EXAMPLE.alignment)


def test_what_does_not_fit_the_sentence_is_refused():
    weights = torch.rand(3, 3)
    with pytest.raises(ValueError, match="expected a matrix of"):
        both_rows_of_a_head(weights, weights, RUNNING_EXAMPLE, "A head")
    with pytest.raises(ValueError, match="with an alignment, found none"):
        both_rows_of_a_head(weights, weights, SentencePair(("a",), ("b",)), "A head")


def test_error_rates_are_written_into_the_cells():
    picture = error_rates_of_heads([[0.5, 0.25], [0.1, 0.0]], [[0.9, 0.8], [1.0, 0.7]])
    assert "<svg" in picture._repr_svg_()
    texts = [[text.get_text() for text in axes.texts] for axes in picture.axes[:2]]
    assert texts == [["0.50", "0.25", "0.10", "0.00"], ["0.90", "0.80", "1.00", "0.70"]]


@pytest.mark.integration
def test_shares_are_written_by_kind_and_head():
    one = {"gender": [[0.5, 0.25], [0.1, 0.0]], "sense": [[1.0, 0.9], [0.8, 0.7]]}
    picture = shares_of_heads({"with": one, "without": one}, "Heads")
    assert "<svg" in picture._repr_svg_()
    for axes in picture.axes[:2]:
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == ["1.1", "1.2", "2.1", "2.2"]
        texts = [text.get_text() for text in axes.texts]
        assert texts == ["0.50", "0.25", "0.10", "0.00", "1.00", "0.90", "0.80", "0.70"]


def test_each_sentence_has_a_strip_with_its_own_words():
    rows = [(["der", "mann"], [0.1, 0.9], "he"), (["das", "buch"], [1, 0], "it")]
    picture = where_pronouns_look(rows, "A head")
    assert "<svg" in picture._repr_svg_()
    for axes, (words, weights, name) in zip(picture.axes, rows, strict=False):
        assert [label.get_text() for label in axes.get_xticklabels()] == words
        assert [label.get_text() for label in axes.get_yticklabels()] == [name]
        assert np.asarray(axes.images[0].get_array()).tolist() == [weights]
    with pytest.raises(ValueError, match="expected a matrix of"):
        where_pronouns_look([(["der"], [0.1, 0.9], "he")], "A head")
