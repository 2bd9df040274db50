"""Learning subwords gives the same result each time, and loses no text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.data import (
    SPECIAL_TOKENS,
    Subwords,
    detokenize,
    learn_subwords,
    make_grammar_corpus,
    share_subwords,
)

KOREAN = ["그 여자는 책을 읽었다.", "그 남자는 책을 샀다."]


def sentences() -> list[str]:
    pairs = make_grammar_corpus().train[:300]
    return [detokenize(side) for pair in pairs for side in (pair.src, pair.tgt)]


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    return learn_subwords([*sentences(), *KOREAN * 50], 500)


def test_the_special_tokens_come_first(subwords):
    assert tuple(subwords.pieces[:4]) == SPECIAL_TOKENS
    assert len(set(subwords.pieces)) == len(subwords.pieces) == 500


def test_equal_sentences_give_equal_subwords(subwords):
    again = learn_subwords([*sentences(), *KOREAN * 50], 500)
    assert again.model == subwords.model


def test_a_small_text_gives_fewer_than_asked_for():
    assert 260 < len(learn_subwords(KOREAN, 8000).pieces) < 400


def test_what_is_frequent_is_one_piece_and_what_is_rare_is_several(subwords):
    assert subwords.split("die der") == ["▁die", "▁der"]
    assert subwords.split("그 남자는")[0] == "▁그"
    assert len(subwords.split("xylophon")) > 4


@pytest.mark.parametrize(
    "text",
    [
        "Die  Frau ruft\tden Mann an!",
        "옆집 아이는 달을 보며 웃었다.",
        "한국어띄어쓰기없이",
        "naïve 😀 ﬁ ½",
        "<eos> <unk> is no token here",
        "これは日本語です。",
    ],
)
def test_every_text_comes_back(subwords, text):
    pieces = subwords.split(text)
    assert subwords.join(pieces) == text
    both, _ = share_subwords(subwords)
    assert both.decode(both.encode(pieces)) == pieces
    assert "<unk>" not in pieces


@given(st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs", "Cc"])))
def test_any_text_comes_back_without_white_space_at_its_ends(text):
    expected = unicodedata.normalize("NFC", text).strip()
    assert GRAMMAR.join(GRAMMAR.split(text)) == expected


def test_letters_in_two_forms_are_the_same(subwords):
    apart = unicodedata.normalize("NFD", KOREAN[0])
    assert apart != KOREAN[0]
    assert subwords.split(apart) == subwords.split(KOREAN[0])


def test_many_texts_are_numbered_as_one(subwords):
    both, target = share_subwords(subwords)
    assert both is target
    texts = [*KOREAN, "die frau"]
    ids = [both.encode(both.split(text, "ko"))[1:-1] for text in texts]
    assert subwords.number(texts) == ids


def test_lower_case_is_kept_with_the_subwords():
    small = learn_subwords(["Die Frau", "die frau"], 300, lower=True)
    assert small.join(small.split("DIE Frau")) == "die frau"
    assert Subwords(small.model).join(small.split("Die")) == "die"


def test_special_tokens_are_left_out_of_the_text(subwords):
    pieces = ["<sos>", *subwords.split("die frau"), "<eos>", "<pad>"]
    assert share_subwords(subwords)[1].join(pieces) == "die frau"
    assert subwords.join(["<eos>"]) == subwords.join([]) == ""


@pytest.mark.parametrize("size", [299, 65_537])
def test_sizes_that_cannot_be(size):
    with pytest.raises(ValueError, match=f"from 300 to 65536 subwords, found {size}"):
        learn_subwords(KOREAN, size)


def test_more_letters_than_subwords():
    letters = "".join(chr(0xAC00 + i) for i in range(400))
    with pytest.raises(ValueError, match=r"at least 6\d\d subwords, .* found 300"):
        learn_subwords([letters], 300)


def test_nothing_to_learn_from():
    with pytest.raises(ValueError, match="at least one sentence"):
        learn_subwords([" ", ""], 300)


def test_bytes_that_are_no_model():
    with pytest.raises(ValueError, match="a model of SentencePiece"):
        Subwords(b"not a model")


GRAMMAR = learn_subwords(sentences(), 400)
