"""Noun phrases, pronouns and prepositional phrases in both languages.

Each word has a bit mask that represents its meaning. Two words of a sentence and its
translation are aligned if they share a bit. These links are the gold alignment.
"""

from typing import NamedTuple

from .adjectives import Adjective
from .inflection import (
    ANY_PLURAL,
    ARTICLE,
    CONTRACTIONS,
    DER_ENDINGS,
    EIN_ENDINGS,
    MIXED_ENDINGS,
    STRONG_ENDINGS,
    THIRD_SINGULAR,
    WEAK_ENDINGS,
    Endings,
    column_of,
    indefinite_article,
    inflect_adjective,
    inflect_noun,
)
from .nouns import Noun
from .places import Preposition

Word = tuple[str, int]

# The lowest of the three bits of a noun phrase: determiner, adjective, noun.
SUBJECT, OBJECT, RECIPIENT, ADJUNCT = (1 << (3 * i) for i in range(4))
VERB, PARTICLE, MODAL, NOT, PREPOSITION, PREDICATE, QUESTION = (
    1 << (12 + i) for i in range(7)
)
ADVERBIAL = 1 << 19  # the next bit is for the second word of an adverbial
CONJUNCTION, COMMA, END = (1 << (21 + i) for i in range(3))
CLAUSE_BITS = 24  # the second clause of a sentence shifts its bits by this number


class Determiner(NamedTuple):
    """A determiner, with its German forms and the endings of adjectives after it."""

    name: str
    german: Endings
    adjective_endings: Endings
    english: str
    english_plural: str


def _with_endings(stem: str, endings: Endings) -> Endings:
    return {case: tuple(stem + end for end in row) for case, row in endings.items()}


def _der_word(stem: str, english: str, english_plural: str) -> Determiner:
    forms = _with_endings(stem, DER_ENDINGS)
    return Determiner(stem, forms, WEAK_ENDINGS, english, english_plural)


def _ein_word(stem: str, english: str) -> Determiner:
    forms = _with_endings(stem, EIN_ENDINGS)
    return Determiner(stem, forms, MIXED_ENDINGS, english, english)


THE = Determiner("der", ARTICLE, WEAK_ENDINGS, "the", "the")
THIS = _der_word("dies", "this", "these")
EVERY = _der_word("jed", "every", "")
A = _ein_word("ein", "a")
NO = _ein_word("kein", "no")
MY, YOUR, HIS, OUR = (
    _ein_word(stem, english)
    for stem, english in (
        ("mein", "my"),
        ("dein", "your"),
        ("sein", "his"),
        ("unser", "our"),
    )
)
BARE = Determiner("", {}, STRONG_ENDINGS, "", "")


class NounPhrase(NamedTuple):
    """A noun with a determiner and perhaps an adjective."""

    noun: Noun
    determiner: Determiner
    plural: bool = False
    adjective: Adjective | None = None

    @property
    def person(self) -> int:
        """Return the column of the verb form that agrees with the phrase."""
        return ANY_PLURAL if self.plural else THIRD_SINGULAR


class Pronoun(NamedTuple):
    """A pronoun in both languages, where `person` is the column of its verb form."""

    german: dict[str, str]
    english: str
    english_object: str
    person: int


Phrase = NounPhrase | Pronoun


def _pronoun(nom: str, acc: str, dat: str, english: str, person: int) -> Pronoun:
    subject, _, other = english.partition("/")
    cases = {"nom": nom, "acc": acc, "dat": dat}
    return Pronoun(cases, subject, other or subject, person)


ICH = _pronoun("ich", "mich", "mir", "i/me", 0)
DU = _pronoun("du", "dich", "dir", "you", 1)
ER = _pronoun("er", "ihn", "ihm", "he/him", 2)
SIE_SINGULAR = _pronoun("sie", "sie", "ihr", "she/her", 2)
WIR = _pronoun("wir", "uns", "uns", "we/us", 3)
SIE_PLURAL = _pronoun("sie", "sie", "ihnen", "they/them", 3)
DAS = _pronoun("das", "das", "dem", "that", 2)
WER = _pronoun("wer", "wen", "wem", "who", 2)


def german_phrase(phrase: Phrase, case: str, role: int) -> list[Word]:
    """Return a phrase in a German case, such as "dem alten mann"."""
    if isinstance(phrase, Pronoun):
        return [(phrase.german[case], role << 2)]
    noun, determiner, plural, adjective = phrase
    column = column_of(noun, plural)
    words = []
    if determiner.german:
        words.append((determiner.german[case][column], role))
    if adjective:
        endings = determiner.adjective_endings
        words.append((inflect_adjective(adjective, endings, case, column), role << 1))
    words.append((inflect_noun(noun, case, plural), role << 2))
    return words


def english_phrase(
    phrase: Phrase, role: int, *, subject: bool = False, determiner_bits: int = 0
) -> list[Word]:
    """Return a phrase in English, such as "the old man".

    In a subject, "kein" is translated as "no". Elsewhere the verb is negated, so "kein"
    is translated as "a" or "any".

    Args:
        phrase: the phrase.
        role: the lowest of its three bits.
        subject: whether the phrase is the subject.
        determiner_bits: the bits of the determiner, if they differ from `role`.
    """
    if isinstance(phrase, Pronoun):
        form = phrase.english if subject else phrase.english_object
        return [(form, role << 2)]
    noun, determiner, plural, adjective = phrase
    words = [(adjective.english, role << 1)] if adjective else []
    forms = noun.english_plural if plural else noun.english
    words += [(form, role << 2) for form in forms]
    article = determiner.english_plural if plural else determiner.english
    if article == "no" and not subject:
        article = "any" if plural or not noun.countable else "a"
    if article == "a":
        article = indefinite_article(words[0][0])
    if article:
        words.insert(0, (article, determiner_bits or role))
    return words


def _contraction(preposition: Preposition, phrase: NounPhrase) -> str | None:
    if phrase.determiner is not THE:
        return None
    article = ARTICLE[preposition.case][column_of(phrase.noun, phrase.plural)]
    return CONTRACTIONS.get((preposition.german, article))


def german_prepositional(preposition: Preposition, phrase: NounPhrase) -> list[Word]:
    """Return a prepositional phrase, and contract "in dem park" to "im park"."""
    words = german_phrase(phrase, preposition.case, ADJUNCT)
    contraction = _contraction(preposition, phrase)
    if contraction:
        return [(contraction, PREPOSITION), *words[1:]]
    return [(preposition.german, PREPOSITION), *words]


def english_prepositional(preposition: Preposition, phrase: NounPhrase) -> list[Word]:
    """Return the translation; if the German is "im", both "in" and "the" link to it."""
    bits = PREPOSITION if _contraction(preposition, phrase) else ADJUNCT
    words = english_phrase(phrase, ADJUNCT, determiner_bits=bits)
    return [(word, PREPOSITION) for word in preposition.english] + words
