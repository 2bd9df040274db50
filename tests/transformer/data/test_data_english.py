"""English forms, against tables written by hand."""

import pytest

from transformer.data.language.adjectives import ADJECTIVES
from transformer.data.language.inflection import indefinite_article, third_person
from transformer.data.language.nouns import NOUNS


@pytest.mark.parametrize(
    ("verb", "expected"),
    {
        "read": "reads",
        "go": "goes",
        "wash": "washes",
        "catch": "catches",
        "carry": "carries",
        "buy": "buys",
        "cry": "cries",
        "tidy": "tidies",
        "play": "plays",
        "lie": "lies",
        "lose": "loses",
        "have": "has",
        "put": "puts",
    }.items(),
)
def test_third_person(verb: str, expected: str) -> None:
    """-s, -es or -ies."""
    assert third_person(verb) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("apple", "an"), ("old", "an"), ("umbrella", "an"), ("house", "a"), ("boy", "a")],
)
def test_indefinite_article(word: str, expected: str) -> None:
    """By the sound that follows, which the lexicon's letters show."""
    assert indefinite_article(word) == expected


def test_no_word_of_the_lexicon_breaks_the_rule_for_articles() -> None:
    """No silent h, no "u" or "eu" spoken as in "you"."""
    words = {noun.english[0] for noun in NOUNS} | {word.english for word in ADJECTIVES}
    odd = ("hour", "hon", "heir", "uni", "use", "usu", "eu", "one")
    assert not [word for word in words if word.startswith(odd)]
