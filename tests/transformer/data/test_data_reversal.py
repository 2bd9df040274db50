"""The toy task: the target is the reversed source."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.data import EOS_ID, PAD_ID, SOS_ID, make_reversal_pairs


@pytest.mark.integration
@given(
    st.integers(1, 20), st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**31)
)
def test_targets_are_sources_backwards(n: int, a: int, b: int, seed: int) -> None:
    shortest, longest = sorted((a, b))
    src, tgt = make_reversal_pairs(n, longest, 7, seed, min_length=shortest)
    assert (src.shape, tgt.shape) == ((n, longest), (n, longest + 2))
    assert src.dtype == tgt.dtype == torch.int64
    for source, target in zip(src.tolist(), tgt.tolist(), strict=True):
        symbols = [i for i in source if i != PAD_ID]
        assert shortest <= len(symbols) <= longest
        assert all(4 <= i < 11 for i in symbols)
        padding = [PAD_ID] * (longest - len(symbols))
        assert source == symbols + padding
        assert target == [SOS_ID, *reversed(symbols), EOS_ID, *padding]


def test_equal_lengths_by_default() -> None:
    src, _ = make_reversal_pairs(50, 12, 10, seed=0)
    assert (src >= 4).all()
    assert set(src.unique().tolist()) == set(range(4, 14))


def test_seed_decides_and_global_state_does_not() -> None:
    first = make_reversal_pairs(5, 6, 9, seed=1, min_length=2)
    torch.manual_seed(7)
    again = make_reversal_pairs(5, 6, 9, seed=1, min_length=2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    other, _ = make_reversal_pairs(5, 6, 9, seed=2, min_length=2)
    assert not torch.equal(first[0], other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 5, 5), "n_pairs of at least 1, found 0"),
        ((5, 0, 5), "length of at least 1, found 0"),
        ((5, 5, -1), "n_symbols of at least 1, found -1"),
    ],
)
def test_sizes_below_one_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_reversal_pairs(*arguments, seed=0)


@pytest.mark.parametrize("shortest", [0, 6])
def test_impossible_shortest_length_is_refused(shortest: int) -> None:
    with pytest.raises(ValueError, match=f"found {shortest}"):
        make_reversal_pairs(5, 5, 5, seed=0, min_length=shortest)
