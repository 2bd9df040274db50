"""Word combinations that only the test split has, found in the English text."""

from collections import Counter, defaultdict
from itertools import starmap

import pytest

from transformer.data import Corpus, make_grammar_corpus
from transformer.data.grammar import is_held_out
from transformer.data.language.adjectives import ADJECTIVES
from transformer.data.language.inflection import third_person
from transformer.data.language.nouns import NOUNS
from transformer.data.language.verbs import VERBS, Verb

_DETERMINERS = {"the", "a", "an", "no", "any", "my", "your", "his", "our", "this"}
_DETERMINERS |= {"these", "every"}
_PRONOUNS = {"me", "you", "him", "us"}
_ADJECTIVES = {adjective.english for adjective in ADJECTIVES}
_NOUNS = {
    form: noun.name for noun in NOUNS for form in (noun.english, noun.english_plural)
}
_ADVERBS = {"not", "always", "often", "sometimes", "rarely", "never"}
_FORMS = defaultdict(list)
for _verb in sorted(VERBS, key=lambda verb: not verb.particle):
    if _verb.frame in ("acc", "ditr"):
        for _form in (_verb.english, third_person(_verb.english)):
            _FORMS[_form].append(_verb)


def read_noun_phrase(words: tuple[str, ...]) -> tuple[str, int]:
    """Return the noun of a phrase at the beginning, and the phrase's length."""
    if words and words[0] in _PRONOUNS:
        return "", 1
    start = 0
    while start < len(words) and words[start] in _DETERMINERS | _ADJECTIVES:
        start += 1
    for size in (2, 1):
        if words[start : start + size] in _NOUNS:
            return _NOUNS[words[start : start + size]], start + size
    return "", 0


def read_combinations(words: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return the pairs of adjective and noun, verb and object, in an English text."""
    found = set()
    for i, word in enumerate(words):
        after = words[i + 1 :]
        if word in _ADJECTIVES:
            found.add((word, read_noun_phrase(after)[0]))
        elif word in ("is", "are"):
            found |= read_state(words[:i], after)
        elif word in _FORMS:
            found.add(read_object(_FORMS[word], after))
    return {combination for combination in found if all(combination)}


def read_state(before: tuple[str, ...], after: tuple[str, ...]) -> set[tuple[str, str]]:
    """Read "… the dog is not old" and "is the dog not old"."""
    subject, size = read_noun_phrase(after)
    if not subject:
        ends = [before[-2:], before[-1:]]
        subject = next((_NOUNS[end] for end in ends if end in _NOUNS), "")
    rest = [word for word in after[size:] if word not in _ADVERBS]
    return {(rest[0], subject)} if rest and rest[0] in _ADJECTIVES else set()


def read_object(verbs: list[Verb], after: tuple[str, ...]) -> tuple[str, str]:
    """Read the object that follows one of several verbs of equal form."""
    verb = next(
        (v for v in verbs if not v.particle or after[:1] == (v.particle,)), None
    )
    if verb is None:
        return "", ""
    after = after[1:] if verb.particle else after
    noun, size = read_noun_phrase(after)
    second = read_noun_phrase(after[size:])[0]
    if verb.frame == "ditr" and verb.english != "explain":
        noun = second
    return verb.name, noun


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Return the corpus of the book."""
    return make_grammar_corpus()


def test_novel_pairs_hold_a_combination_that_training_lacks(corpus: Corpus) -> None:
    """The test finds the combinations in the English text only."""
    known = set().union(*(read_combinations(pair.tgt) for pair in corpus.train))
    assert len(known) > 1_500
    assert not [combination for combination in known if is_held_out(*combination)]
    for pair in corpus.valid:
        assert not any(starmap(is_held_out, read_combinations(pair.tgt)))
    for pair, novel in zip(corpus.test, corpus.novel, strict=True):
        unseen = read_combinations(pair.tgt) - known
        assert any(starmap(is_held_out, unseen)) == novel, pair.tgt


def test_a_fair_part_of_the_test_is_novel(corpus: Corpus) -> None:
    """Three tenths of the test are novel, with combinations of both kinds."""
    assert sum(corpus.novel) == 300
    assert len(corpus.novel) == len(corpus.test)
    verbs = {verb.name for verb in VERBS}
    kinds = Counter(
        combination[0] in verbs
        for pair in corpus.test
        for combination in read_combinations(pair.tgt)
        if is_held_out(*combination)
    )
    assert min(kinds[True], kinds[False]) > 50
