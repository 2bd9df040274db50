"""Sentences with pronouns: each noun by its own rule, and the corpus without them."""

from collections import Counter, defaultdict

import pytest

from transformer.data import make_grammar_corpus
from transformer.data.language.nouns import NOUNS as NOUNS_KNOWN
from transformer.data.language.nouns import Noun, select_nouns
from transformer.data.pronouns import KINDS, PronounSentence, make_pronoun_sentences

NOUNS = {form: one for one in NOUNS_KNOWN for form in (one.german, one.oblique)}
PEOPLE = select_nouns("person")


@pytest.fixture(scope="module")
def sentences():
    return make_pronoun_sentences(1_500, seed=3)


def noun_at(sentence: PronounSentence, place: int) -> Noun:
    """Return the noun at a place of the German sentence."""
    return NOUNS[sentence.pair.src[place]]


def pronoun_for(sentence: PronounSentence, place: int) -> str:
    """Return the pronoun that can replace the noun at a place."""
    return ("er", "sie", "es")[noun_at(sentence, place).gender]


def of_kind(sentences, kind):
    return [one for one in sentences if one.kind == kind]


def test_sentences_of_each_kind_and_none_twice(sentences):
    assert Counter(one.kind for one in sentences) == dict.fromkeys(KINDS, 500)
    assert len({one.pair.src for one in sentences}) == 1_500


def test_equal_seeds_give_equal_sentences(sentences):
    assert make_pronoun_sentences(1_500, seed=3) == sentences
    assert make_pronoun_sentences(1_500, seed=4) != sentences


def test_none_is_in_the_corpus(sentences):
    corpus = make_grammar_corpus()
    known = {pair.src for _, pairs in corpus.splits() for pair in pairs}
    assert known.isdisjoint(one.pair.src for one in make_pronoun_sentences(9_000))


def test_the_gender_tells_the_noun(sentences):
    for one in of_kind(sentences, "gender"):
        said = one.pair.src[one.pronoun]
        assert pronoun_for(one, one.noun) == said
        assert pronoun_for(one, one.other) != said


def test_the_gender_tells_nothing_where_another_thing_does(sentences):
    for one in of_kind(sentences, "sense"):
        said = one.pair.src[one.pronoun]
        assert pronoun_for(one, one.noun) == said == pronoun_for(one, one.other)


def test_the_former_is_jener_and_the_latter_dieser(sentences):
    for one in of_kind(sentences, "order"):
        stem = "jen" if one.noun < one.other else "dies"
        expected = {"er": stem + "er", "sie": stem + "e"}
        said = one.pair.src[one.pronoun]
        assert expected[pronoun_for(one, one.noun)] == said
        assert expected[pronoun_for(one, one.other)] == said


def test_people_are_he_or_she_and_things_are_it(sentences):
    for one in sentences:
        noun, other = noun_at(one, one.noun), noun_at(one, one.other)
        expected = ("he", "she")[noun.gender] if noun in PEOPLE else "it"
        assert one.pair.tgt[one.tgt_pronoun] == expected
        assert (other in PEOPLE) == (expected == "it")


def test_either_noun_is_the_subject_and_either_comes_first(sentences):
    """In English, the subject is first. No other place tells a person from a thing."""
    found = Counter()
    for one in sentences:
        person = one.other if one.pair.tgt[one.tgt_pronoun] == "it" else one.noun
        english = noun_at(one, person).english[0]
        is_subject = one.pair.tgt[1] == english
        found[is_subject, person < max(one.noun, one.other)] += 1
    assert len(found) == 4 and min(found.values()) > 1_500 / 5


def test_what_is_said_decides_where_nothing_else_does(sentences):
    """Where gender or order decides, the statement fits both nouns."""
    meant = defaultdict(set)
    for one in sentences:
        is_thing = one.pair.tgt[one.tgt_pronoun] == "it"
        meant[one.kind == "sense", one.pair.src[-3]].add(is_thing)
    by_sense = {word: found for (sense, word), found in meant.items() if sense}
    others = {word: found for (sense, word), found in meant.items() if not sense}
    assert by_sense["müde"] == {False} and by_sense["neu"] == {True}
    assert all(len(found) == 1 for found in by_sense.values())
    assert others["alt"] == others["groß"] == {False, True}
    assert by_sense.keys().isdisjoint(others)


@pytest.mark.parametrize("kind", KINDS)
def test_neither_the_nearest_noun_nor_the_first_nor_the_person_is_it(sentences, kind):
    some = of_kind(sentences, kind)
    nearest = sum(one.noun > one.other for one in some) / len(some)
    person = sum(noun_at(one, one.noun) in PEOPLE for one in some) / len(some)
    assert nearest == pytest.approx(0.5, abs=0.08)
    assert person == pytest.approx(0.5, abs=0.08)


def test_the_same_words_in_another_order_refer_to_another_noun():
    """Therefore, no bag of words can find the meaning of "dieser"."""
    meant = defaultdict(set)
    for one in of_kind(make_pronoun_sentences(9_000), "order"):
        meant[tuple(sorted(one.pair.src))].add(one.pair.tgt[one.tgt_pronoun])
    assert sum(len(words) == 2 for words in meant.values()) > 50


@pytest.mark.integration
def test_a_german_sentence_has_one_translation():
    found = defaultdict(set)
    for seed in range(3):
        for one in make_pronoun_sentences(6_000, seed):
            found[one.pair.src].add((one.pair, one.noun))
    assert all(len(ways) == 1 for ways in found.values())
