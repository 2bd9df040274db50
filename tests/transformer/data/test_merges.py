"""Byte-pair merges by hand are counted, chosen and applied as on the page."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.data.merges import apply_merges, learn_merges

TEN = "low lower lowest new newer newest wide wider widest show"
WORDS = st.dictionaries(
    st.text("abc", min_size=1, max_size=8), st.integers(1, 9), max_size=6
)


def test_ten_words_by_hand() -> None:
    merges = learn_merges(Counter(TEN.split()), 8)
    spelled = ["ow", "de", "ew", "ide", "low", "new", "st", "wide"]
    assert ["".join(pair) for pair in merges] == spelled
    assert apply_merges(["▁", *"slow"], merges) == ["▁", "s", "low"]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [("aaa", ["aa", "a"]), ("aaaa", ["aa", "aa"]), ("baab", ["b", "aa", "b"])],
)
def test_no_letter_is_used_twice(word: str, pieces: list[str]) -> None:
    assert apply_merges(word, [("a", "a")]) == pieces


def test_a_merge_is_tried_once_in_its_turn() -> None:
    assert apply_merges("abc", [("ab", "c"), ("a", "b")]) == ["ab", "c"]
    assert apply_merges(["ab", "b"], [("b", "b")]) == ["ab", "b"]


def test_words_count_as_often_as_they_occur() -> None:
    assert learn_merges({"ab": 1, "cb": 1, "db": 3}, 1) == [("d", "b")]
    assert learn_merges({"aaa": 1, "bc": 1}, 1) == [("a", "a")]  # at two places


@given(WORDS, st.integers(0, 5))
def test_each_merge_is_the_most_frequent_pair_that_is_left(
    words: dict[str, int], n: int
) -> None:
    merges = learn_merges(words, n)
    assert merges == learn_merges(dict(reversed(words.items())), n)
    for number in range(n):
        seen: Counter[tuple[str, str]] = Counter()
        for word, count in words.items():
            pieces = apply_merges(["▁", *word], merges[:number])
            assert "".join(pieces) == "▁" + word
            for pair in pairwise(pieces):
                seen[pair] += count
        if not seen:
            assert len(merges) <= number
            break
        most = max(seen.values())
        assert merges[number] == min(pair for pair in seen if seen[pair] == most)


@given(WORDS)
def test_in_the_end_each_word_is_one_piece(words: dict[str, int]) -> None:
    merges = learn_merges(words, 999)
    assert len(merges) < 999
    assert all(apply_merges(["▁", *word], merges) == ["▁" + word] for word in words)
