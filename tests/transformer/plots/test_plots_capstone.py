"""The figures of unit 13 show their data."""

import math

import pytest

from transformer.plots.capstone import bleu_against_length, group_names, training_log


def record(epoch: int, train: float, valid: float) -> dict[str, float]:
    return {
        "epoch": epoch,
        "train_loss": math.log(train),
        "valid_loss": math.log(valid),
    }


def test_the_log_shows_perplexities_and_marks_the_best_epoch() -> None:
    history = [record(1, 60, 30), record(2, 20, 12), record(3, 10, 13)]
    axes = training_log(history).axes[0]
    train, valid = axes.get_lines()
    assert list(train.get_ydata()) == pytest.approx([60, 20, 10])
    assert list(valid.get_ydata()) == pytest.approx([30, 12, 13])
    assert axes.texts[0].xy == pytest.approx((2, 12))
    assert axes.texts[0].get_text() == "best: 12.00"


def test_a_log_without_epochs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one epoch"):
        training_log([])


def test_groups_have_the_names_of_their_limits() -> None:
    assert group_names((8, 12, 13)) == ["≤ 8", "9–12", "13", "> 13"]
    assert group_names(()) == ["all"]


def test_bleu_stands_over_its_group_and_empty_groups_are_left_out() -> None:
    series = {
        "greedy": [(10, 40.0), (0, None), (5, 20.0)],
        "beam 4": [(10, 42.0), (0, None), (5, 25.0)],
    }
    picture = bleu_against_length(series, (8, 12))
    axes = picture.axes[0]
    greedy, beam = axes.get_lines()
    assert list(greedy.get_xdata()) == list(beam.get_xdata()) == [0, 2]
    assert list(greedy.get_ydata()) == [40.0, 20.0]
    names = [tick.get_text() for tick in axes.get_xticklabels()]
    assert names == ["≤ 8\nn = 10", "9–12\nn = 0", "> 12\nn = 5"]
    assert picture._repr_svg_().lstrip().startswith("<?xml")


def test_a_line_with_another_number_of_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 3 groups"):
        bleu_against_length({"greedy": [(1, 2.0)]}, (8, 12))
    with pytest.raises(ValueError, match="at least one line"):
        bleu_against_length({}, (8, 12))
