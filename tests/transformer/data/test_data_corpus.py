"""The grammar corpus: size, splits, alignments, and its documented properties."""

import hashlib
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import transformer.data
from transformer.data import RUNNING_EXAMPLE, Corpus, SentencePair, make_grammar_corpus
from transformer.data.grammar import AMBIGUOUS_WORDS, RAREST, align
from transformer.data.language.dice import Dice
from transformer.data.language.sentences import sample_sentence
from transformer.data.word_counts import build_vocabularies

CHECKSUM = "5a8f65671ca0ec2d8f3dae2e0cdeebd6c8053d84600e8842480512572fe3e026"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Return the corpus of the book."""
    return make_grammar_corpus()


def all_pairs(corpus: Corpus) -> tuple[SentencePair, ...]:
    """Return the pairs of the three splits."""
    return corpus.train + corpus.valid + corpus.test


def checksum(corpus: Corpus) -> str:
    """Return a hash of everything in the corpus."""
    return hashlib.sha256(repr(corpus).encode()).hexdigest()


def test_sizes(corpus: Corpus) -> None:
    """The sizes are those of the design."""
    assert [len(pairs) for _, pairs in corpus.splits()] == [20_000, 1_000, 1_000]
    vocabularies = build_vocabularies(corpus.train)
    assert all(250 < len(words) < 1_000 for words in vocabularies)


def test_lengths_and_letters(corpus: Corpus) -> None:
    """A sentence has 3 to 14 tokens in lower case, and ends in a punctuation mark."""
    for pair in all_pairs(corpus):
        for tokens in (pair.src, pair.tgt):
            assert 3 <= len(tokens) <= 14
            assert tokens[-1] in (".", "?")
            assert all(re.fullmatch(r"[a-zäöüß]+|[.,?]", token) for token in tokens)
        assert pair.src[-1] == pair.tgt[-1]


# Only the corpus, without importing torch next to it.
PRINT_CHECKSUM = """
import hashlib, sys, types
for name, folder in zip(("transformer", "transformer.data"), sys.argv[1:]):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from transformer.data.grammar import make_grammar_corpus
print(hashlib.sha256(repr(make_grammar_corpus()).encode()).hexdigest())
"""


@pytest.mark.integration
def test_is_the_same_everywhere(corpus: Corpus) -> None:
    """The text does not depend on the machine or its order of hashes."""
    assert checksum(corpus) == CHECKSUM
    folder = Path(transformer.data.__file__).parent
    ran = subprocess.run(
        [sys.executable, "-c", PRINT_CHECKSUM, str(folder.parent), str(folder)],
        env={"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == CHECKSUM


@pytest.mark.integration
def test_another_seed_gives_another_corpus(corpus: Corpus) -> None:
    """The other corpus has the same size, and the running example in its test split."""
    other = make_grammar_corpus(seed=1)
    assert [len(pairs) for _, pairs in other.splits()] == [20_000, 1_000, 1_000]
    assert other.train[:100] != corpus.train[:100]
    assert other.test[0] == RUNNING_EXAMPLE


def test_no_sentence_twice(corpus: Corpus) -> None:
    """No side of a pair occurs again, in its own split or in another one."""
    pairs = all_pairs(corpus)
    assert len({pair.src for pair in pairs}) == len(pairs)
    assert len({pair.tgt for pair in pairs}) == len(pairs)


def test_words_of_the_other_splits_are_frequent_in_training(corpus: Corpus) -> None:
    """They occur at least ten times, on both sides."""
    for side in ("src", "tgt"):
        counts = Counter(w for pair in corpus.train for w in getattr(pair, side))
        for pair in corpus.valid + corpus.test:
            assert all(counts[word] >= RAREST for word in getattr(pair, side))


@pytest.mark.integration
def test_one_translation_of_each_german_sentence() -> None:
    """This is true for all sentences of the grammar, not only for the corpus."""
    dice, translations = Dice(123), defaultdict(set)
    for _ in range(40_000):
        sentence = sample_sentence(dice)
        if sentence is not None:
            pair = align(sentence)
            translations[pair.src].add((pair.tgt, pair.alignment))
    assert len(translations) > 25_000
    assert not [src for src, found in translations.items() if len(found) > 1]


def test_every_word_is_aligned(corpus: Corpus) -> None:
    """The only exception is a subordinate clause's comma, which English leaves out."""
    for pair in all_pairs(corpus):
        assert list(pair.alignment) == sorted(set(pair.alignment))
        src = {i for i, _ in pair.alignment}
        tgt = {j for _, j in pair.alignment}
        assert tgt == set(range(len(pair.tgt)))
        missing = set(range(len(pair.src))) - src
        assert all(pair.src[i] == "," for i in missing)
        assert ("," in pair.tgt) == (pair.src[0] == "wenn")


PARTNERS = {
    "der": {"the", "to"},
    "das": {"the", "that"},
    "einen": {"a", "an"},
    "kein": {"no", "not", "a", "an", "any", "cannot"},
    "nicht": {"not", "cannot"},
    "ich": {"i"},
    "mich": {"me"},
    "weil": {"because"},
    "dass": {"that"},
    "ob": {"whether"},
    "wenn": {"when"},
    "im": {"in", "the"},
    "zur": {"to", "the"},
    "warum": {"why"},
    "hund": {"dog"},
    "frauen": {"women"},
    "schultasche": {"school", "bag"},
    "regnet": {"is", "raining"},
    "sie": {"she", "they"},
    "bank": {"bank", "bench"},
    "schloss": {"castle", "lock"},
    "?": {"?"},
    ".": {"."},
}


@pytest.mark.parametrize("word", PARTNERS)
def test_words_are_aligned_with_their_translations(corpus: Corpus, word: str) -> None:
    """The whole corpus aligns them with exactly these words."""
    found = {
        pair.tgt[j]
        for pair in all_pairs(corpus)
        for i, j in pair.alignment
        if pair.src[i] == word
    }
    assert found == PARTNERS[word]


@pytest.mark.parametrize("word", AMBIGUOUS_WORDS)
def test_ambiguous_words_have_all_their_translations(corpus: Corpus, word: str) -> None:
    """Each translation occurs at least twenty times in training."""
    found = Counter(
        pair.tgt[j]
        for pair in corpus.train
        for i, j in pair.alignment
        if pair.src[i] == word
    )
    assert all(found[translation] >= 20 for translation in AMBIGUOUS_WORDS[word]), found


@pytest.mark.parametrize(
    ("name", "pattern", "least"),
    [
        ("subordinate clause, verb at the end", r", (dass|weil|ob) .* \w+ \.$", 3_000),
        ("condition, then the verb", r"^wenn .* , (ist|sind|kann|\w+t|\w+en) ", 1_000),
        ("separable verb", r"(ruft|räumt|macht) .* (an|auf|aus) [.?]$", 80),
        ("one verb in a subordinate clause", r"(anruft|abholt|aufräumt) \.$", 40),
        ("modal with its infinitive", r"(kann|muss|will) .*en [.?]$", 600),
        ("dative", r"(dem|einem) \w+en \w+ ", 500),
        ("nicht", r" nicht ", 2_000),
        ("kein", r"\bkein(e|en)? ", 500),
        ("yes or no", r"^(ist|sind|kann|liest|ruft) .*\?$", 400),
        ("question word", r"^(wer|was|wen|wem|wo|wohin|wann|warum) .*\?$", 1_500),
        ("time first", r"^(heute|jeden tag|am \w+) (ist|kann|\w+t) ", 400),
        ("place first", r"^(im|auf dem|in der) \w+ \w+t ", 50),
        ("object first", r"^(den|einen|meinen|diesen) .* (der|die|er|ich) ", 100),
        ("compound", r"\b(schultasche|haustür|küchentisch|polizeiauto)\b", 200),
        ("weak masculine", r"(den|dem|einen) (studenten|bauern|nachbarn|affen)\b", 200),
    ],
)
def test_constructions_occur(
    corpus: Corpus, name: str, pattern: str, least: int
) -> None:
    """Each construction is frequent enough for a model to learn it."""
    found = sum(bool(re.search(pattern, " ".join(p.src))) for p in corpus.train)
    assert found >= least, name


def test_running_example(corpus: Corpus) -> None:
    """It has a separable verb, an accusative and a weak ending, and starts the test."""
    assert " ".join(RUNNING_EXAMPLE.src) == "die frau ruft den alten mann an ."
    assert " ".join(RUNNING_EXAMPLE.tgt) == "the woman calls the old man ."
    assert RUNNING_EXAMPLE.alignment == (
        (0, 0),
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 4),
        (5, 5),
        (6, 2),
        (7, 6),
    )
    assert corpus.test[0] is RUNNING_EXAMPLE
    assert not corpus.novel[0]


def test_translations_of_a_word() -> None:
    """The translations are in order from left to right, and only at aligned places."""
    assert RUNNING_EXAMPLE.translations(2) == ("calls",)
    assert RUNNING_EXAMPLE.translations(6) == ("calls",)
    with pytest.raises(IndexError, match="from 0 to 7, found 8"):
        RUNNING_EXAMPLE.translations(8)
    with pytest.raises(ValueError, match="found none"):
        SentencePair(("ja",), ("yes",)).translations(0)


def test_pairs_cannot_be_changed() -> None:
    """All callers share the pairs of the corpus."""
    with pytest.raises(FrozenInstanceError):
        RUNNING_EXAMPLE.src = ("nein",)
