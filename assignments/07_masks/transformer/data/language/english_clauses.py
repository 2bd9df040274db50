"""Put the words of an English clause in order, with its auxiliaries."""

from .adjectives import Adjective
from .adverbials import english_time
from .clauses import Clause, Modal
from .inflection import BE, THIRD_SINGULAR, third_person
from .phrases import (
    ADVERBIAL,
    MODAL,
    NOT,
    OBJECT,
    PARTICLE,
    PREDICATE,
    RECIPIENT,
    SUBJECT,
    VERB,
    Pronoun,
    Word,
    english_phrase,
    english_prepositional,
)
from .verbs import Verb

# Verbs that take "to": "explains the task to him", unlike "gives him the book".
_VERBS_WITH_TO = ("explain",)


def statement(clause: Clause) -> list[Word]:
    """Return the words of a statement, such as "she calls the old man"."""
    negation = _negation(clause)
    auxiliary, rest = _verb(clause, inverted=False)
    verb = [*auxiliary, *negation]
    if negation and auxiliary[0][0] == "can":
        verb = [("cannot", auxiliary[0][1] | negation[0][1])]
    return [*_subject(clause), *verb, *_frequency(clause), *rest, *_after(clause)]


def question(clause: Clause) -> list[Word]:
    """Return the words of a question, such as "does she call the old man"."""
    auxiliary, rest = _verb(clause, inverted=True)
    start = [*auxiliary, *_subject(clause), *_negation(clause), *_frequency(clause)]
    return [*start, *rest, *_after(clause)]


def _subject(clause: Clause) -> list[Word]:
    return english_phrase(clause.subject, SUBJECT, subject=True)


def _frequency(clause: Clause) -> list[Word]:
    return [(clause.frequency[1], ADVERBIAL)] if clause.frequency else []


def _negation(clause: Clause) -> list[Word]:
    """Return "not", linked to the German "nicht" or to the object's "kein"."""
    if not clause.negation:
        return []
    return [("not", NOT if clause.negation == "nicht" else OBJECT)]


def _verb(clause: Clause, inverted: bool) -> tuple[list[Word], list[Word]]:
    """Return the auxiliary, if there is one, and the remaining words of the verb.

    A negated or inverted clause always has an auxiliary.
    """
    verb, person = clause.verb, clause.subject.person
    if verb is None:
        return [(BE[person], VERB)], []
    third = person == THIRD_SINGULAR
    needs_auxiliary = inverted or bool(clause.negation)
    do = "does" if third else "do"
    if clause.modal is None:
        if needs_auxiliary:
            return [(do, VERB)], [_head(verb, third=False)]
        return [], [_head(verb, third)]
    auxiliary, link = _modal(clause.modal, bool(clause.negation), inverted)
    chain = [(word, VERB if word == "to" else MODAL) for word in link.split()]
    if not auxiliary and needs_auxiliary:
        auxiliary = do
    elif not auxiliary and third:
        chain[0] = (third_person(chain[0][0]), MODAL)
    base = [*chain, _head(verb, third=False)]
    return ([(auxiliary, MODAL)] if auxiliary else []), base


def _modal(modal: Modal, negated: bool, inverted: bool) -> tuple[str, str]:
    if not negated:
        return modal.positive
    return modal.asked if inverted else modal.negative


def _head(verb: Verb, third: bool) -> Word:
    form = third_person(verb.english) if third else verb.english
    return form, VERB if verb.particle else VERB | PARTICLE


def _after(clause: Clause) -> list[Word]:
    """Return the words after the verb: objects, predicate, place, time."""
    words = _objects(clause)
    if isinstance(clause.predicate, Adjective):
        words.append((clause.predicate.english, PREDICATE))
    elif clause.predicate:
        words += english_phrase(clause.predicate, OBJECT)
    if clause.adjunct:
        words += english_prepositional(*clause.adjunct)
    return words + (english_time(clause.time) if clause.time else [])


def _objects(clause: Clause) -> list[Word]:
    verb = clause.verb
    if verb is None:
        return []
    direct = english_phrase(clause.object, OBJECT) if clause.object else []
    indirect = english_phrase(clause.recipient, RECIPIENT) if clause.recipient else []
    if verb.particle:
        particle = [(verb.particle, PARTICLE)]
        if verb.particle_moves and isinstance(clause.object, Pronoun):
            return [*direct, *particle]
        return [*particle, *direct]
    if indirect and verb.english in _VERBS_WITH_TO:
        return [*direct, ("to", indirect[0][1]), *indirect]
    return [*indirect, *direct]
