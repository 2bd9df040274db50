"""Words to ids and back."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.data import SPECIAL_TOKENS, Vocabulary, build_vocabularies
from transformer.data.grammar import make_grammar_corpus

SENTENCES = [["b", "a", "c"], ["a", "b"], ["a", "d"]]


def test_specials_then_frequency_then_alphabet() -> None:
    words = Vocabulary.build(SENTENCES).words
    assert words == ("<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d")


def test_rare_words_are_unknown() -> None:
    vocabulary = Vocabulary.build(SENTENCES, min_freq=2)
    assert vocabulary.words == (*SPECIAL_TOKENS, "a", "b")
    assert vocabulary.encode(["a", "c"]) == [2, 4, 0, 3]
    assert "a" in vocabulary
    assert "c" not in vocabulary
    assert len(vocabulary) == 6


def test_decode_stops_at_the_end_and_drops_specials() -> None:
    vocabulary = Vocabulary.build(SENTENCES)
    assert vocabulary.decode([2, 4, 0, 5, 3, 6, 7]) == ["a", "<unk>", "b"]
    assert vocabulary.decode(torch.tensor([2, 4, 1, 1])) == ["a"]
    assert vocabulary.decode([]) == []


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=20))
def test_decode_undoes_encode(tokens: list[str]) -> None:
    vocabulary = Vocabulary.build(SENTENCES)
    assert vocabulary.decode(vocabulary.encode(tokens)) == tokens


def test_encode_leaves_the_vocabulary_alone() -> None:
    """Torchtext's table is a defaultdict: looking a word up must not add it."""
    vocabulary = Vocabulary.build(SENTENCES)
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
    Vocabulary.build(SENTENCES).save(path)
    before = path.read_bytes()

    def fail(*_args, **_kwargs) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        Vocabulary.build([["x"]]).save(path)
    assert path.read_bytes() == before


def test_equality() -> None:
    first = Vocabulary.build(SENTENCES)
    assert first == Vocabulary(first.words)
    assert first != Vocabulary.build([["a"]])
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
    vocabulary = Vocabulary.build(SENTENCES)
    with pytest.raises(ValueError, match="at least one word, found none"):
        vocabulary.encode([])
    with pytest.raises(TypeError, match="found the string 'a b'"):
        vocabulary.encode("a b")
    with pytest.raises(ValueError, match="from 0 to 7, found 8"):
        vocabulary.decode([4, 8])
    with pytest.raises(ValueError, match="at least 1, found 0"):
        Vocabulary.build(SENTENCES, min_freq=0)
    with pytest.raises(ValueError, match="at least one sentence"):
        Vocabulary.build([])
