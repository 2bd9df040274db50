"""The figures of unit 01 show their data."""

import re

import pytest
import torch

from transformer.plots.recurrent import (
    WeighedSentences,
    accuracy_against_length,
    bleu_against_length,
    one_look,
)


def test_accuracy_is_drawn_against_length() -> None:
    shares = {(False, 48): {2: 1.0, 3: 0.5}, (True, 96): {3: 0.9, 2: 0.8}}
    picture = accuracy_against_length(shares, steps=4000)
    (axes,) = picture.axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    wanted = {"reads the last, width 48": [1, 0.5]}
    assert drawn == {**wanted, "reads all states, width 96": [0.8, 0.9]}
    looks = [(x.get_color(), x.get_linestyle(), x.get_marker()) for x in axes.lines]
    assert all(mine != peer for mine, peer in zip(*looks, strict=True))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "3"]
    assert axes.get_title(loc="left") == "After 4,000 steps of training"
    assert picture._repr_svg_().lstrip().startswith("<?xml")


def test_bleu_is_drawn_group_by_group() -> None:
    picture = bleu_against_length({"a": [50.0, 20.0], "b": [60.0, 55.0]}, ["2", "3"])
    (axes,) = picture.axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn == {"a": [50, 20], "b": [60, 55]}
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "3"]


def test_one_look_draws_the_row_of_the_word() -> None:
    weights = torch.tensor([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    written = ["b", "a", "<eos>"]
    (axes,) = one_look(weights, ["a", "b"], written, position=1).axes
    assert [bar.get_height() for bar in axes.patches] == [0.5, 0.5]
    assert axes.get_title(loc="left") == "b [a]"


def test_one_look_names_weights_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"expected weights of \(1, 2\)"):
        one_look(torch.zeros(2, 2), ["a", "b"], ["b"], position=0)


def test_weighed_sentences_show_each_word_with_its_weight() -> None:
    shown = WeighedSentences([["a", "<b>"]], [[0.25, 0.75]], ["lock"])._repr_html_()
    words = re.findall(r"/ ([\d.]+)\)\">(.+?)<br><small>([\d.]+)", shown)
    assert words == [("0.15", "a", "0.25"), ("0.45", "&lt;b&gt;", "0.75")]
    assert "<b>lock</b>" in shown


@pytest.mark.parametrize(
    ("weights", "names"), [([[1.0]], ["x"]), ([[0.5, 0.5]], []), ([], ["x"])]
)
def test_weighed_sentences_refuse_what_does_not_fit(weights, names) -> None:
    with pytest.raises(ValueError, match="a weight for each word"):
        WeighedSentences([["a", "b"]], weights, names)
