"""Draw statements, in which the German verb is always in second place."""

from dataclasses import replace

from .adverbials import Adverbial, english_time, german_time
from .clauses import Clause
from .dice import Dice
from .english_clauses import statement
from .german_clauses import verb_first, verb_second
from .nouns import MASCULINE
from .phrases import (
    BARE,
    OBJECT,
    NounPhrase,
    Phrase,
    english_prepositional,
    german_phrase,
    german_prepositional,
)
from .places import Preposition
from .sampler import sample_clause
from .sentence import Sentence, finish


def make_statement(clause: Clause) -> Sentence:
    """Return "die frau ruft den alten mann an ." and its translation."""
    return finish(verb_second(clause), statement(clause), ".", clause)


def sample_statement(dice: Dice) -> Sentence:
    """Draw a statement, which may begin with another part than the subject."""
    clause = sample_clause(dice)
    if clause.time and dice.chance(0.6):
        return _time_first(clause, clause.time)
    if clause.adjunct and _can_front_place(clause) and dice.chance(0.2):
        return _place_first(clause, *clause.adjunct)
    if clause.object and _can_front_object(clause) and dice.chance(0.4):
        return _object_first(clause, clause.object)
    return make_statement(clause)


def _time_first(clause: Clause, time: Adverbial) -> Sentence:
    """Return "heute liest der mann das buch ."."""
    rest = replace(clause, time=None)
    german = [*german_time(time), *verb_first(rest)]
    return finish(german, [*english_time(time), *statement(rest)], ".", clause)


def _place_first(
    clause: Clause, preposition: Preposition, place: NounPhrase
) -> Sentence:
    """Return "im park spielt ein kind ."."""
    rest = replace(clause, adjunct=None)
    german = [*german_prepositional(preposition, place), *verb_first(rest)]
    english = [*english_prepositional(preposition, place), *statement(rest)]
    return finish(german, english, ".", clause)


def _object_first(clause: Clause, direct: Phrase) -> Sentence:
    """Return "den hund sieht die frau .", in which the article marks the object."""
    rest = verb_first(replace(clause, object=None))
    german = [*german_phrase(direct, "acc", OBJECT), *rest]
    return finish(german, statement(clause), ".", clause)


def _can_front_place(clause: Clause) -> bool:
    return (
        clause.verb is not None
        and clause.verb.frame in ("none", "place")
        and not (clause.negation or clause.time or clause.frequency)
    )


def _can_front_object(clause: Clause) -> bool:
    """Return whether the article marks the noun as the object, as in "den hund"."""
    phrase = clause.object
    return (
        isinstance(phrase, NounPhrase)
        and not (phrase.plural or clause.negation or clause.recipient)
        and phrase.noun.gender == MASCULINE
        and phrase.determiner is not BARE
    )
