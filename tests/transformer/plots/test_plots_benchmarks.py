"""Check that the appendix's figures are drawn, and refuse data that do not fit."""

import pytest

from transformer.plots.benchmarks import speed_bars, validation_curves


def test_bars_stand_for_the_ratios():
    picture = speed_bars({"one": 1.3, "two": 21.0}, {"two": 20.0})
    (axes,) = picture.axes
    assert [bar.get_width() for bar in axes.patches] == [1.3, 21.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
    assert list(axes.lines[0].get_xdata()) == [20.0]
    assert "<svg" in picture._repr_svg_()


@pytest.mark.parametrize("target", [18.0, 20.0, 25.0])
def test_a_number_stands_clear_of_the_mark_behind_its_bar(target):
    (axes,) = speed_bars({"one": 17.7}, {"one": target}).axes
    assert [text.get_position()[0] > target for text in axes.texts] == [True]


def test_bars_need_no_target():
    assert speed_bars({"one": 0.4}).axes[0].get_xlim()[0] <= 0.4


@pytest.mark.parametrize("ratios", [{}, {"one": 0.0}, {"one": -1.0}])
def test_ratios_that_cannot_be_drawn(ratios):
    with pytest.raises(ValueError, match="above 0"):
        speed_bars(ratios)


def test_curves_have_a_point_an_epoch():
    picture = validation_curves({"a": [9.0, 6.0, 5.0], "b": [8.0, 7.0]})
    lines = picture.axes[0].lines
    assert [len(line.get_xdata()) for line in lines] == [3, 2]
    assert "<svg" in picture._repr_svg_()


@pytest.mark.parametrize("logs", [{}, {"a": []}])
def test_runs_that_cannot_be_drawn(logs):
    with pytest.raises(ValueError, match="at least one epoch"):
        validation_curves(logs)
