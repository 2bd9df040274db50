"""The figures of masks show their data."""

import pytest
import torch

from transformer.masks import causal_mask
from transformer.plots.masks import (
    losses_with_and_without,
    mask_and_influence,
    masks_in_a_row,
)

TOKENS = ["<sos>", "die", "frau"]
CAUSAL = causal_mask(3)[0, 0]


def test_masks_in_a_row_have_a_dot_for_each_open_key():
    picture = masks_in_a_row(
        {"causal": CAUSAL, "all": CAUSAL | True}, *[TOKENS] * 2, ""
    )
    left, right = picture.axes
    assert left.get_title(loc="left") == "causal"
    dots = [len(axes.lines[0].get_xdata()) for axes in (left, right)]
    assert dots == [6, 9]
    assert (left.lines[0].get_xdata() <= left.lines[0].get_ydata()).all()  # key, query
    assert [label.get_text() for label in left.get_yticklabels()] == TOKENS
    assert "<svg" in picture._repr_svg_()


def test_mask_and_influence_marks_the_exact_zeros():
    reach = torch.rand(3, 3).clamp(min=0.01).tril()
    picture = mask_and_influence(CAUSAL, reach, TOKENS, "causal")
    zeros = {text.get_position() for text in picture.axes[1].texts}
    assert zeros == {(1, 0), (2, 0), (2, 1)}  # (column, row)
    assert "<svg" in picture._repr_svg_()


def test_masks_must_fit_their_tokens():
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        masks_in_a_row({"causal": CAUSAL}, TOKENS[:2], TOKENS[:2], "")


@pytest.mark.integration
def test_losses_with_and_without_draws_both():
    picture = losses_with_and_without([3.0, 0.3, 0.03], [3.0, 0.2, 0.02])
    drawn = [list(line.get_ydata()) for line in picture.axes[0].lines]
    assert drawn == [[3.0, 0.3, 0.03], [3.0, 0.2, 0.02]]
    assert "<svg" in picture._repr_svg_()
