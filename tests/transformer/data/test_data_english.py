"""English forms, compared with tables written by hand."""

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
    """The ending is -s, -es or -ies."""
    assert third_person(verb) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("apple", "an"), ("old", "an"), ("umbrella", "an"), ("house", "a"), ("boy", "a")],
)
def test_indefinite_article(word: str, expected: str) -> None:
    """The next sound decides, and in the lexicon its letters show the sound."""
    assert indefinite_article(word) == expected


def test_no_word_of_the_lexicon_breaks_the_rule_for_articles() -> None:
    """The lexicon has no silent h, and no "u" or "eu" that sounds like "you"."""
    words = {noun.english[0] for noun in NOUNS} | {word.english for word in ADJECTIVES}
    odd = ("hour", "hon", "heir", "uni", "use", "usu", "eu", "one")
    assert not [word for word in words if word.startswith(odd)]
