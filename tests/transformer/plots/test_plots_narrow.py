"""A figure with a new layout for a telephone keeps its words and their size."""

import base64
import re
import zlib

import numpy as np
import pytest
import torch
from matplotlib.text import Text

from transformer.plots.attention_heads import attention_heads as maps_of_heads
from transformer.plots.benchmarks import speed_bars
from transformer.plots.embeddings import loudness_against_width
from transformer.plots.multi_head import heads_side_by_side, splits_of
from transformer.plots.narrow import WIDTH, least_words, narrowed
from transformer.plots.positional import binary_clock, dials_turned_by
from transformer.plots.style import heatmap, new_picture
from transformer.plots.training import RunCurve, losses_and_bleu

WORDS = ["die", "frau", "ruft", "den", "alten", "mann", "an", "."]
WEIGHTS = torch.rand(4, 8, 8)
PICTURES = {
    "map": lambda: heatmap(WEIGHTS[0], WORDS, WORDS, "Looks back, and a long title"),
    "heads": lambda: heads_side_by_side(WEIGHTS, WORDS, "What each of four heads sees"),
    "many maps": lambda: maps_of_heads(WEIGHTS, WORDS, WORDS, "Four heads"),
    "splits": lambda: splits_of(WORDS[:3], 2),
    "clock": lambda: binary_clock(np.random.rand(32, 32)),
    "dials": lambda: dials_turned_by(3, [1.0, 0.3, 0.1, 0.03], [2, 9]),
    "legend": lambda: loudness_against_width(
        [16, 64], {"N(0, 1), and times the root": [9, 9], "Glorot": [1, 1]}
    ),
    "losses": lambda: losses_and_bleu(
        {"a run of a long name": RunCurve([3.0, 2.0, 1.0], 12.3)}
    ),
    "bars": lambda: speed_bars({"greedy, cached and in batches, against plain": 20.0}),
}


@pytest.fixture(params=PICTURES, scope="module")
def both(request):
    picture = PICTURES[request.param]()
    return picture, narrowed(picture)


def words(figure) -> set[str]:
    found = {text.get_text() for text in figure.findobj(Text) if text.get_visible()}
    return {word for text in found for word in text.replace(":", " ").split()}


@pytest.mark.integration
def test_it_is_narrow_and_its_words_are_as_large(both):
    wide, narrow = both
    assert narrow.get_figwidth() == pytest.approx(WIDTH)
    assert least_words(narrow) >= min(least_words(wide), 9)
    assert least_words(narrow) / 72 / WIDTH * 342 >= 9


def test_it_says_the_same(both):
    wide, narrow = both
    numbers = re.compile(r"[−\d.,]+")
    missing = {w for w in words(wide) - words(narrow) if not numbers.fullmatch(w)}
    assert missing == set()


def test_nothing_is_cut_at_its_edges(both):
    _, narrow = both
    narrow.draw_without_rendering()
    box = narrow.get_tightbbox()
    assert box.x0 >= -0.06
    assert box.x1 <= WIDTH + 0.06
    assert box.y0 >= -0.06
    assert box.y1 <= narrow.get_figheight() + 0.06


def test_the_figure_itself_is_left_as_it_was():
    picture = PICTURES["heads"]()
    before = picture.get_size_inches().tolist(), words(picture)
    narrowed(picture)
    assert (picture.get_size_inches().tolist(), words(picture)) == before


def test_panels_that_would_be_too_narrow_stand_below_each_other():
    narrow = narrowed(PICTURES["heads"]())
    corners = {axes.get_position().x0.round(2) for axes in narrow.axes[:4]}
    assert len(corners) == 2
    for axes in narrow.axes[:3:2]:  # the left panels
        assert [t.get_text() for t in axes.get_yticklabels() if t.get_visible()]


def test_a_narrow_figure_has_no_second_version():
    picture, _ = new_picture(3.0, 2.0)
    assert narrowed(picture) is None
    assert "narrow" not in picture._repr_svg_()


def test_the_svg_holds_both_versions():
    picture = PICTURES["map"]()
    svg = picture._repr_svg_()
    held = re.search(r'<metadata id="narrow">([^<]+)</metadata>\s*</svg>', svg)[1]
    narrow = zlib.decompress(base64.b64decode(held)).decode()
    width = float(re.search(r'width="([\d.]+)pt"', narrow)[1])
    assert width == pytest.approx(WIDTH * 72)
