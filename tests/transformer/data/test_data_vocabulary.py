"""Words to ids and back, with the same ids as in torchtext."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchtext_oracle import torchtext_field

from transformer.data import SPECIAL_TOKENS, SentencePair, Vocabulary
from transformer.data.grammar import make_grammar_corpus
from transformer.data.word_counts import build_vocabularies

SENTENCES = [["b", "a", "c"], ["a", "b"], ["a", "d"]]


def build(sentences: list[list[str]], min_freq: int = 1) -> Vocabulary:
    """Build one vocabulary from sentences that are their own translations."""
    pairs = [SentencePair(tuple(words), tuple(words)) for words in sentences]
    src, tgt = build_vocabularies(pairs, min_freq)
    assert src == tgt
    return src


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "Ä", "ä", "<pad>"])), min_size=1),
    st.integers(1, 4),
)
def test_torchtext_gives_the_same_ids(sentences: list[list[str]], least: int) -> None:
    field = torchtext_field(sentences, least)
    vocabulary = build(sentences, least)
    assert list(vocabulary.words) == field.vocab.itos
    for words in filter(None, sentences):
        assert field.process([words]).tolist() == [vocabulary.encode(words)]


def test_torchtext_gives_the_corpus_the_same_ids() -> None:
    pairs = make_grammar_corpus().train
    for side, vocabulary in zip(("src", "tgt"), build_vocabularies(pairs), strict=True):
        field = torchtext_field([getattr(pair, side) for pair in pairs])
        assert list(vocabulary.words) == field.vocab.itos


def test_specials_then_frequency_then_alphabet() -> None:
    words = build(SENTENCES).words
    assert words == ("<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d")


def test_rare_words_are_unknown() -> None:
    vocabulary = build(SENTENCES, min_freq=2)
    assert vocabulary.words == (*SPECIAL_TOKENS, "a", "b")
    assert vocabulary.encode(["a", "c"]) == [2, 4, 0, 3]
    assert "a" in vocabulary
    assert "c" not in vocabulary
    assert len(vocabulary) == 6


def test_decode_stops_at_the_end_and_drops_specials() -> None:
    vocabulary = build(SENTENCES)
    assert vocabulary.decode([2, 4, 0, 5, 3, 6, 7]) == ["a", "<unk>", "b"]
    assert vocabulary.decode(torch.tensor([2, 4, 1, 1])) == ["a"]
    assert vocabulary.decode([]) == []


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=20))
def test_decode_undoes_encode(tokens: list[str]) -> None:
    vocabulary = build(SENTENCES)
    assert vocabulary.decode(vocabulary.encode(tokens)) == tokens


def test_encode_leaves_the_vocabulary_alone() -> None:
    vocabulary = build(SENTENCES)
    vocabulary.encode(["new"])
    assert "new" not in vocabulary
    assert len(vocabulary) == 8


def test_save_and_load(tmp_path: Path) -> None:
    _, vocabulary = build_vocabularies(make_grammar_corpus().train)
    vocabulary.save(tmp_path / "en.json")
    loaded = Vocabulary.load(tmp_path / "en.json")
    assert loaded == vocabulary
    assert loaded.encode(["the", "dog"]) == vocabulary.encode(["the", "dog"])
    assert json.loads((tmp_path / "en.json").read_text("utf-8")) == list(loaded.words)
    assert [path.name for path in tmp_path.iterdir()] == ["en.json"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "words.json"
    build(SENTENCES).save(path)
    before = path.read_bytes()

    def fail(*_args, **_kwargs) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        build([["x"]]).save(path)
    assert path.read_bytes() == before


def test_equality() -> None:
    first = build(SENTENCES)
    assert first == Vocabulary(first.words)
    assert first != build([["a"]])
    assert first != first.words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b"], r"begin with \('<unk>'.*found \('a', 'b'\)"),
        ([*SPECIAL_TOKENS, "a", "a"], "found 'a' twice"),
        ([*SPECIAL_TOKENS, 7], "list of words"),
        ("<unk>", "list of words"),
    ],
)
def test_wrong_words_are_refused(words: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocabulary(words)


@pytest.mark.parametrize("content", ["", "[1", '{"a": 1}', '["a"]', "3"])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "words.json").write_text(content)
    with pytest.raises(ValueError, match=r"words\.json: expected"):
        Vocabulary.load(tmp_path / "words.json")


def test_wrong_arguments_are_refused() -> None:
    vocabulary = build(SENTENCES)
    with pytest.raises(ValueError, match="at least one word, found none"):
        vocabulary.encode([])
    with pytest.raises(TypeError, match="found the string 'a b'"):
        vocabulary.encode("a b")
    with pytest.raises(ValueError, match="from 0 to 7, found 8"):
        vocabulary.decode([4, 8])
    with pytest.raises(ValueError, match="at least 1, found 0"):
        build(SENTENCES, min_freq=0)
    with pytest.raises(ValueError, match="at least one sentence"):
        build([])
