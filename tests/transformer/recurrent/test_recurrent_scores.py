"""Recurrent attention's shifted target, scores and averages, compared with PyTorch."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from transformer.recurrent.attention import (
    GeneralAttention,
    additive_score,
    attend,
    shift_right,
)

SOS = 2


# shift_right


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1),
    st.integers(0, 9),
)
def test_shift_right_delays_by_one_position(rows, sos_id):
    tgt = torch.tensor(rows)
    shifted = shift_right(tgt, sos_id)
    assert shifted.tolist() == [[sos_id, *row[:-1]] for row in rows]
    assert tgt.tolist() == rows


def test_shift_right_of_one_word_leaves_the_start_alone():
    assert shift_right(torch.tensor([[7], [8]]), SOS).tolist() == [[SOS], [SOS]]


@pytest.mark.parametrize("shape", [(3,), (2, 0), (2, 3, 4)])
def test_shift_right_names_the_wrong_shape(shape):
    with pytest.raises(ValueError, match="found shape"):
        shift_right(torch.zeros(shape, dtype=torch.long), SOS)


# additive_score and attend


def test_additive_score_equals_the_formula_pair_by_pair():
    b, s, h, m, a = 2, 5, 4, 3, 6
    state, memory = torch.randn(b, h).double(), torch.randn(b, s, m).double()
    w_state, w_memory = torch.randn(a, h).double(), torch.randn(a, m).double()
    v = torch.randn(a).double()
    scores = additive_score(state, memory, w_state, w_memory, v)
    assert scores.shape == (b, s)
    for row in range(b):
        for j in range(s):
            hidden = (w_state @ state[row] + w_memory @ memory[row, j]).tanh()
            assert torch.allclose(scores[row, j], v @ hidden, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_attend_equals_scaled_dot_product_attention_with_its_scale_undone(masked):
    torch.manual_seed(1)
    query, keys, values = torch.randn(3, 4), torch.randn(3, 5, 4), torch.randn(3, 5, 6)
    mask = torch.rand(3, 5) < 0.6 if masked else None
    if masked:
        mask[:, 2] = True
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, values, mask)
    expected = F.scaled_dot_product_attention(
        query.unsqueeze(1),
        keys,
        values,
        attn_mask=mask.unsqueeze(1) if masked else None,
        scale=1.0,
    )
    assert torch.allclose(context, expected.squeeze(1), atol=1e-6)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(3), atol=1e-6)
    if masked:
        assert (weights[~mask] == 0).all()


def test_attend_to_nothing_gives_zeros_and_finite_gradients():
    scores = torch.randn(2, 4, requires_grad=True)
    values = torch.randn(2, 4, 3, requires_grad=True)
    mask = torch.tensor([[False] * 4, [True, False, True, True]])
    context, weights = attend(scores, values, mask)
    assert (context[0] == 0).all() and (weights[0] == 0).all()
    context.sum().backward()
    for leaf in (scores, values):
        assert leaf.grad.isfinite().all()
        assert (leaf.grad[0] == 0).all() and (leaf.grad[1] != 0).any()


def test_attend_stays_finite_for_large_scores():
    scores = torch.tensor([[3e4, -3e4, 3e4]])
    _, weights = attend(scores, torch.randn(1, 3, 2))
    assert torch.allclose(weights, torch.tensor([[0.5, 0.0, 0.5]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_attend_keeps_the_dtype(dtype):
    context, weights = attend(
        torch.randn(2, 3).to(dtype), torch.randn(2, 3, 4, dtype=dtype)
    )
    assert context.dtype == weights.dtype == dtype


def test_gradients_equal_finite_differences():
    torch.manual_seed(2)
    shapes = [(2, 3), (2, 4, 5), (6, 3), (6, 5), (6,)]
    leaves = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    mask = torch.tensor([[True] * 4, [True, True, False, False]])

    def context(state, memory, w_state, w_memory, v):
        scores = additive_score(state, memory, w_state, w_memory, v)
        return attend(scores, memory, mask)[0]

    assert torch.autograd.gradcheck(context, leaves)


def test_general_attention_scores_as_a_bilinear_form():
    torch.manual_seed(3)
    attention = GeneralAttention(4, 3)
    state, memory = torch.randn(2, 4), torch.randn(2, 5, 3)
    weight = attention.w_memory.weight
    expected = torch.einsum("bh,hm,bsm->bs", state, weight, memory).softmax(dim=-1)
    _, weights = attention(state, memory)
    assert torch.allclose(weights, expected, atol=1e-6)
