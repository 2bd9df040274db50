"""The labelled sentences have the meanings of their labels, and none occurs twice."""

from collections import Counter

from transformer.data import make_grammar_corpus
from transformer.data.senses import SENSES, WORD, make_sense_sentences


def test_half_are_castles_and_half_are_locks():
    sentences, labels = make_sense_sentences(60, seed=3)
    assert Counter(labels) == {0: 30, 1: 30}
    assert len(set(sentences)) == 60
    assert all(words.count(WORD) == 1 for words in sentences)


def test_verbs_of_one_meaning_stand_with_its_label():
    sentences, labels = make_sense_sentences(200, seed=0)
    for words, label in zip(sentences, labels, strict=True):
        if len(words) <= 7:  # one clause
            opens = {"öffnet", "öffnen", "repariert", "reparieren"} & set(words)
            assert (SENSES[label] == "lock") >= bool(opens), words
            assert (SENSES[label] == "castle") >= bool({"im", "vor", "zum"} & {*words})


def test_the_labels_agree_with_the_corpus():
    """For sentences of the corpus, the label is that of the corpus's translation."""
    english = {pair.src: pair.tgt for pair in make_grammar_corpus().train}
    sentences, labels = make_sense_sentences(600, seed=0)
    shared = [
        (SENSES[label], english[words])
        for words, label in zip(sentences, labels, strict=True)
        if words in english
    ]
    assert shared and all(sense in tgt for sense, tgt in shared)


def test_equal_seeds_give_equal_sentences():
    assert make_sense_sentences(20, seed=1) == make_sense_sentences(20, seed=1)
    assert make_sense_sentences(20, seed=1) != make_sense_sentences(20, seed=2)
