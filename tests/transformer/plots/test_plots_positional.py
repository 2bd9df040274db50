"""The figures of positions are drawn, and show the stated facts."""

import numpy as np
import pytest

from transformer.plots.positional import (
    accuracy_against_length,
    binary_clock,
    dials_turned_by,
)
from transformer.positional import sinusoidal_encoding

RATES = [10000 ** (-2 * i / 16) for i in range(8)]


@pytest.mark.integration
def test_the_binary_clock_is_drawn():
    picture = binary_clock(sinusoidal_encoding(32, 32), n_bits=5)
    digits = picture.axes[0].images[0].get_array()
    assert (digits @ [1, 2, 4, 8, 16]).tolist() == list(range(32))
    assert picture._repr_svg_()


@pytest.mark.integration
@pytest.mark.parametrize("k", [0, 1, 16])
def test_the_dials_say_the_dot_product(k):
    picture = dials_turned_by(k, RATES, (0, 7))
    table = sinusoidal_encoding(30, 16).numpy()
    product = table[5] @ table[5 + k]
    assert f"dot product {product:.2f}" in picture.axes[-1].get_title(loc="left")
    degrees = [axes.get_title() for axes in picture.axes[:4]]
    assert degrees == [f"pair {i}: {np.degrees(k * RATES[i]):.0f}°" for i in range(4)]
    assert picture._repr_svg_()


def test_accuracy_against_length_is_drawn():
    shares = {"sinusoidal": [1.0, 0.9, 0.5], "learned": [1.0, 0.9, 0.1]}
    picture = accuracy_against_length([7, 8, 9], shares, longest=8)
    names = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert names == ["sinusoidal", "learned"]
    assert picture._repr_svg_()
