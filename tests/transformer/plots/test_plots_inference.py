"""The figures of unit 11 show their data."""

from transformer.plots.inference import (
    Branch,
    TimeByPosition,
    beam_tree,
    heights,
    time_by_position,
)

TREE = [
    Branch(("a",), 0.6, True),
    Branch(("b",), 0.4, True),
    Branch(("a", "c"), 0.3, False),
    Branch(("a", "d"), 0.3, True),
    Branch(("b", "e"), 0.36, True),
]


def test_a_branch_stands_between_those_that_grow_from_it() -> None:
    place = heights(TREE)
    assert place["a",] == (place["a", "c"] + place["a", "d"]) / 2
    assert place["b",] == place["b", "e"]
    assert len(set(place.values())) == 4


def test_a_tree_shows_the_words_written_so_far() -> None:
    (axes,) = beam_tree(TREE, step=1, greedy=("a", "c")).axes
    assert [text.get_text() for text in axes.texts] == ["a\n0.600", "b\n0.400"]
    picture = beam_tree(TREE, step=2, greedy=("a", "c"), decided=False)
    assert len(picture.axes[0].texts) == 5
    assert picture._repr_svg_().lstrip().startswith("<?xml")


def test_on_a_telephone_a_tree_grows_downwards() -> None:
    picture = beam_tree(TREE, step=2, greedy=("a", "c"))
    wide, narrow = (
        {text.get_text().split()[0]: text.get_position() for text in p.axes[0].texts}
        for p in (picture, picture.narrow_picture)
    )
    assert wide.keys() == narrow.keys() == set("abcde")
    assert wide["c"][0] > wide["a"][0]
    assert narrow["c"][1] < narrow["a"][1]


def test_times_are_drawn_against_the_position() -> None:
    time = TimeByPosition([16, 32], [0.1, 0.4], [0.05, 0.1])
    (axes,) = time_by_position(time).axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn == {"no cache": [0.1, 0.4], "cache": [0.05, 0.1]}
