"""The figures of the encoder show their data."""

import numpy as np
import pytest

from transformer.plots.encoder import (
    WordCloud,
    drift_by_layer,
    view_from,
    word_at_layer,
)

TOKENS = ["die", "frau"]


def make_cloud() -> WordCloud:
    points = np.arange(24, dtype=float).reshape(3, 4, 2) - 12
    meanings = ["bank", "bench", "bank", "bench"]
    return WordCloud(points, meanings, {"in der bank": 0, "auf der bank": 1}, "bank")


def test_drift_has_a_row_a_token_and_a_column_a_state():
    picture = drift_by_layer([[0.0, 0.0], [0.25, 0.5], [0.5, 1.0]], TOKENS)
    axes = picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == TOKENS
    columns = [label.get_text() for label in axes.get_xticklabels()]
    assert columns == ["input", "layer 1", "layer 2"]
    written = [text.get_text() for text in axes.texts]
    assert written == ["0.00", "0.25", "0.50", "0.00", "0.50", "1.00"]
    assert "<svg" in picture._repr_svg_()


def test_drift_must_fit_its_tokens():
    with pytest.raises(ValueError, match=r"\(1, 2\)"):
        drift_by_layer([[0.0, 0.0], [0.5, 1.0]], TOKENS[:1])


def test_view_keeps_the_distances_that_lie_in_its_plane():
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.normal(size=(9, 2)))[0].T  # two axes in nine dimensions
    flat = rng.normal(size=(6, 2)) * [5, 1]
    seen = view_from(flat @ plane, [flat @ plane, 3 + 2 * (flat @ plane)])
    assert seen.shape == (2, 6, 2)
    wanted = np.linalg.norm(flat[0] - flat[5])
    assert np.linalg.norm(seen[0, 0] - seen[0, 5]) == pytest.approx(wanted)
    assert np.allclose(seen[1], 2 * seen[0])  # every state is centred
    assert seen[0, :, 0].var() > seen[0, :, 1].var()


@pytest.mark.parametrize("layer", [0, 2])
def test_word_at_layer_draws_points_and_the_way_of_the_examples(layer):
    cloud = make_cloud()
    picture = word_at_layer(cloud, layer)
    (axes,) = picture.axes
    drawn = {group.get_label(): group.get_offsets() for group in axes.collections}
    assert np.array_equal(drawn["bank"], cloud.points[layer, [0, 2]])
    assert np.array_equal(drawn["bench"], cloud.points[layer, [1, 3]])
    ways = [line.get_xydata() for line in axes.lines[::2]]
    assert np.array_equal(ways[0], cloud.points[: layer + 1, 0])
    assert np.array_equal(ways[1], cloud.points[: layer + 1, 1])
    assert "bank" in axes.get_title(loc="left")
    assert "<svg" in picture._repr_svg_()


def test_all_layers_have_the_same_axes():
    limits = {word_at_layer(make_cloud(), n).axes[0].get_xlim() for n in range(3)}
    assert len(limits) == 1
