"""Sentences in which a pronoun refers to one of two nouns, with the right noun.

An example is "die frau steht neben dem bus , weil er alt ist .". German uses "er" for
both a man and a bus, so English needs the noun to choose between "he" and "it". The
grammar corpus has no such sentences. One noun is a person, and the other is a thing.
Either noun may be the subject, and either may come first. No noun is neuter, because
"es" is always translated as "it".
"""

from dataclasses import dataclass, replace

from .grammar import align
from .language.adjectives import ADJECTIVES_OF, Adjective
from .language.adverbials import TIMES_OF
from .language.clauses import Clause
from .language.dice import Dice
from .language.english_clauses import statement
from .language.german_clauses import verb_first, verb_last, verb_second
from .language.inflection import DER_ENDINGS, THIRD_SINGULAR
from .language.nouns import Noun, select_nouns
from .language.phrases import (
    ADJUNCT,
    CLAUSE_BITS,
    COMMA,
    CONJUNCTION,
    SUBJECT,
    THE,
    NounPhrase,
    Pronoun,
    Word,
    german_prepositional,
)
from .language.places import Preposition
from .language.sentence import Sentence, finish
from .language.verbs import VERBS_BY_FRAME
from .pairs import SentencePair

KINDS = ("gender", "sense", "order")
"""The clue to the pronoun's noun.

"gender": the nouns and the pronouns differ in gender; the predicate suits both nouns.
"sense": the nouns have the same gender; the predicate suits only people or only things.
"order": the same gender and predicate; "jener" is the first noun, "dieser" the last.
"""

_PERSONAL, _OF_PEOPLE = ("er", "sie"), ("he", "she")  # masculine, feminine
_PEOPLE, _THINGS = (
    tuple(noun for noun in select_nouns(classes) if noun.gender < len(_PERSONAL))
    for classes in ("person", "thing,vehicle")
)
_SAID_OF_PEOPLE, _SAID_OF_THINGS = (
    frozenset(word.german for noun in nouns for word in ADJECTIVES_OF[noun])
    for nouns in (_PEOPLE, _THINGS)
)
_STAND = next(verb for verb in VERBS_BY_FRAME["place"] if verb.english == "stand")
_BESIDE = (
    Preposition("neben", "dat", ("next", "to")),
    Preposition("vor", "dat", ("in", "front", "of")),
    Preposition("hinter", "dat", ("behind",)),
)
_TIME_SHARE = 0.4  # without times, each noun could occur at only two positions


@dataclass(frozen=True, slots=True)
class PronounSentence:
    """Hold a sentence with a pronoun, and the positions of its two nouns.

    Attributes:
        pair: the sentence and its translation.
        kind: the clue that identifies the noun, one of `KINDS`.
        pronoun: position of the pronoun among the German words.
        noun: position of the noun to which the pronoun refers.
        other: position of the other noun.
        tgt_pronoun: position of "he", "she" or "it" among the English words.
    """

    pair: SentencePair
    kind: str
    pronoun: int
    noun: int
    other: int
    tgt_pronoun: int


def make_pronoun_sentences(
    n_sentences: int, seed: int = 0
) -> tuple[PronounSentence, ...]:
    """Draw sentences of the three kinds in turn, no sentence twice.

    Args:
        n_sentences: number of sentences.
        seed: equal seeds give equal sentences.
    """
    dice = Dice(seed)
    found: dict[tuple[str, ...], PronounSentence] = {}
    while len(found) < n_sentences:
        sentence = _draw(dice, KINDS[len(found) % len(KINDS)])
        if sentence is not None:
            found.setdefault(sentence.pair.src, sentence)
    return tuple(found.values())


def _draw(dice: Dice, kind: str) -> PronounSentence | None:
    """Draw a sentence, or return None if the drawn nouns do not fit the kind."""
    nouns = [dice.pick(_PEOPLE), dice.pick(_THINGS)]
    if (nouns[0].gender == nouns[1].gender) is (kind == "gender"):
        return None
    subject, place = dice.sample(nouns, 2)
    is_subject, place_first = dice.chance(0.5), dice.chance(0.5)
    noun, other = (subject, place) if is_subject else (place, subject)
    said = _what_tells(noun) if kind == "sense" else _what_suits_both(noun, other)
    pronoun = _pronoun(noun, kind, is_first=is_subject is not place_first)
    reason = Clause(pronoun, predicate=dice.pick(said))
    main = Clause(
        NounPhrase(subject, THE),
        verb=dice.pick((None, _STAND)),
        adjunct=(dice.pick(_BESIDE), NounPhrase(place, THE)),
        time=dice.pick(TIMES_OF["state"]) if dice.chance(_TIME_SHARE) else None,
    )
    german = _place_first(main) if place_first else verb_second(main)
    sentence = finish(
        [*german, (",", COMMA), ("weil", CONJUNCTION), *_later(verb_last(reason))],
        [*statement(main), ("because", CONJUNCTION), *_later(statement(reason))],
        ".",
    )
    return _with_places(sentence, kind, is_subject)


def _place_first(main: Clause) -> list[Word]:
    """Return "neben dem bus steht die frau", with an unchanged English order."""
    assert main.adjunct
    rest = verb_first(replace(main, adjunct=None))
    return [*german_prepositional(*main.adjunct), *rest]


def _later(words: list[Word]) -> list[Word]:
    """Shift the second clause's alignment bits, so that no other clause uses them."""
    return [(word, bits << CLAUSE_BITS) for word, bits in words]


def _what_tells(noun: Noun) -> list[Adjective]:
    """Return the noun's adjectives that describe only people or only things."""
    both = _SAID_OF_PEOPLE & _SAID_OF_THINGS
    return [word for word in ADJECTIVES_OF[noun] if word.german not in both]


def _what_suits_both(noun: Noun, other: Noun) -> list[Adjective]:
    """Return the noun's adjectives that, in German, can describe both nouns."""
    german = {word.german for word in ADJECTIVES_OF[other]}
    return [word for word in ADJECTIVES_OF[noun] if word.german in german]


def _pronoun(noun: Noun, kind: str, is_first: bool) -> Pronoun:
    """Return a pronoun for a noun, which is the first of the two if `is_first`."""
    german = _PERSONAL[noun.gender]
    if kind == "order":
        german = ("jen" if is_first else "dies") + DER_ENDINGS["nom"][noun.gender]
    english = _OF_PEOPLE[noun.gender] if noun in _PEOPLE else "it"
    return Pronoun({"nom": german}, english, english, THIRD_SINGULAR)


def _with_places(sentence: Sentence, kind: str, is_subject: bool) -> PronounSentence:
    """Align a sentence, and find its nouns and pronouns by their alignment bits."""
    nouns = SUBJECT << 2, ADJUNCT << 2
    pronoun = SUBJECT << 2 << CLAUSE_BITS
    german = [bits for _, bits in sentence.german]
    english = [bits for _, bits in sentence.english]
    noun, other = nouns if is_subject else reversed(nouns)
    return PronounSentence(
        align(sentence),
        kind,
        german.index(pronoun),
        german.index(noun),
        german.index(other),
        english.index(pronoun),
    )
