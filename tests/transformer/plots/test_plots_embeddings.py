"""The figures of embeddings are drawn, and refuse data that do not fit."""

import numpy as np
import pytest
import torch

from transformer.plots.embeddings import (
    loudness_against_width,
    main_plane,
    place_words,
    word_map,
)

GROUPS = {"people": ["frau", "mann"], "articles": ["den", "einen", "diesen"]}


def test_the_plane_is_orthonormal_and_holds_the_directions():
    table = torch.zeros(5, 7)
    table[:, 2] = torch.tensor([3.0, -1, 2, -2, 1])  # all in one plane
    table[:, 4] = torch.tensor([1.0, 2, -1, 1, -3])
    plane = main_plane(table)
    torch.testing.assert_close(plane.T @ plane, torch.eye(2, dtype=torch.float64))
    lengths = np.linalg.norm(place_words(table, plane), axis=1)
    np.testing.assert_allclose(lengths, 1.0)


def test_the_plane_does_not_depend_on_the_length_of_vectors():
    torch.manual_seed(0)
    table = torch.randn(6, 9)
    stretched = table * torch.tensor([1.0, 2, 3, 4, 5, 6])[:, None]
    torch.testing.assert_close(main_plane(table), main_plane(stretched))


def test_a_map_of_words_is_drawn():
    torch.manual_seed(0)
    table = torch.randn(5, 8)
    places = place_words(table, main_plane(table))
    picture = word_map(places, GROUPS, "Words after 0 steps")
    markup = picture._repr_svg_()
    assert markup.count("<svg") == 1
    texts = [text.get_text() for text in picture.axes[0].texts]
    assert texts == ["frau", "mann", "den", "einen", "diesen"]


def test_a_map_needs_one_place_for_each_word():
    with pytest.raises(
        ValueError, match=r"expected places of shape \(5, 2\).*\(4, 2\)"
    ):
        word_map(np.zeros((4, 2)), GROUPS, "Words")


def test_loudness_is_drawn():
    ratios = {
        "N(0, 1) × √d_model": [8.0, 11.3, 16.0],
        "Xavier alone": [0.02, 0.02, 0.02],
    }
    picture = loudness_against_width([32, 64, 128], ratios)
    assert picture._repr_svg_()
    assert len(picture.axes[0].get_legend().get_texts()) == 2
