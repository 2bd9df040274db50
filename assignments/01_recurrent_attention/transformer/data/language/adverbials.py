"""Adverbs and expressions of time, and the predicates that each can modify."""

from typing import NamedTuple

from .phrases import ADVERBIAL, Word


class Adverbial(NamedTuple):
    """An expression of time, as words in both languages.

    `links` gives the number of the German word that each English word translates.
    `kinds` names the predicates that the expression can modify: "plain" (a verb in the
    present tense), "modal" or "state" (to be).
    """

    german: tuple[str, ...]
    english: tuple[str, ...]
    links: tuple[int, ...]
    kinds: tuple[str, ...]


def _time(german: str, english: str, links: str, kinds: str) -> Adverbial:
    return Adverbial(
        tuple(german.split()),
        tuple(english.split()),
        tuple(map(int, links.split())),
        tuple(kinds.split()),
    )


TIMES = (
    _time("heute", "today", "0", "plain modal state"),
    _time("jetzt", "now", "0", "modal state"),
    _time("morgen", "tomorrow", "0", "modal"),
    _time("bald", "soon", "0", "modal"),
    _time("am morgen", "in the morning", "0 0 1", "plain modal state"),
    _time("am abend", "in the evening", "0 0 1", "plain modal state"),
    _time("am montag", "on monday", "0 1", "plain modal"),
    _time("am sonntag", "on sunday", "0 1", "plain modal state"),
    _time("im sommer", "in summer", "0 1", "plain"),
    _time("jeden tag", "every day", "0 1", "plain modal"),
)
TIMES_OF = {
    kind: tuple(time for time in TIMES if kind in time.kinds)
    for kind in ("plain", "modal", "state")
}
FREQUENCIES = (
    ("immer", "always"),
    ("oft", "often"),
    ("manchmal", "sometimes"),
    ("selten", "rarely"),
    ("nie", "never"),
)


def german_time(time: Adverbial) -> list[Word]:
    """Return the German words, each with its own alignment bit."""
    return [(word, ADVERBIAL << i) for i, word in enumerate(time.german)]


def english_time(time: Adverbial) -> list[Word]:
    """Return the English words with the bits of the German words they translate."""
    pairs = zip(time.english, time.links, strict=True)
    return [(word, ADVERBIAL << link) for word, link in pairs]
