"""Put the words of a German clause in order, with the verb second, first or last."""

from functools import cache

from .adjectives import Adjective
from .adverbials import german_time
from .clauses import Clause
from .inflection import conjugate
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
    german_phrase,
    german_prepositional,
)

_conjugate = cache(conjugate)


def verb_second(clause: Clause) -> list[Word]:
    """Return a main clause, such as "sie ruft den alten mann an"."""
    finite, bracket = _verb(clause)
    return [*_subject(clause), finite, *_midfield(clause), *bracket]


def verb_first(clause: Clause) -> list[Word]:
    """Return "ruft sie den alten mann an", as in a question or after an adverb."""
    finite, bracket = _verb(clause)
    return [finite, *_subject(clause), *_midfield(clause), *bracket]


def verb_last(clause: Clause) -> list[Word]:
    """Return "sie den alten mann anruft", a subordinate clause without conjunction."""
    (finite, bits), bracket = _verb(clause)
    if clause.modal:
        end = [*bracket, (finite, bits)]
    elif clause.verb and bracket:
        end = [(clause.verb.prefix + finite, VERB | PARTICLE)]
    else:
        end = [(finite, bits)]
    return [*_subject(clause), *_midfield(clause), *end]


def _subject(clause: Clause) -> list[Word]:
    return german_phrase(clause.subject, "nom", SUBJECT)


def _verb(clause: Clause) -> tuple[Word, list[Word]]:
    """Return the finite verb, and the parts of the verb that end a main clause."""
    verb, person = clause.verb, clause.subject.person
    if verb is None:
        return (_conjugate("sein")[person], VERB), []
    if clause.modal:
        finite = _conjugate(clause.modal.german)[person]
        return (finite, MODAL), [(verb.infinitive, VERB | PARTICLE)]
    finite = _conjugate(verb.german, verb.changed_stem)[person]
    if verb.prefix:
        return (finite, VERB), [(verb.prefix, PARTICLE)]
    return (finite, VERB | PARTICLE), []


def _midfield(clause: Clause) -> list[Word]:
    """Return the words between the finite verb and the end of the verb.

    Pronouns come first, then the dative, the time, the accusative and "nicht". The
    place or the predicate comes last.
    """
    words: list[Word] = []
    direct = german_phrase(clause.object, "acc", OBJECT) if clause.object else []
    if isinstance(clause.object, Pronoun):
        words += direct
    if clause.recipient:
        words += german_phrase(clause.recipient, "dat", RECIPIENT)
    words += _adverb(clause)
    if not isinstance(clause.object, Pronoun):
        words += direct
    if clause.negation == "nicht":
        words.append(("nicht", NOT))
    if clause.adjunct:
        words += german_prepositional(*clause.adjunct)
    return words + _predicate(clause)


def _adverb(clause: Clause) -> list[Word]:
    if clause.time:
        return german_time(clause.time)
    return [(clause.frequency[0], ADVERBIAL)] if clause.frequency else []


def _predicate(clause: Clause) -> list[Word]:
    predicate = clause.predicate
    if isinstance(predicate, Adjective):
        return [(predicate.german, PREDICATE)]
    return german_phrase(predicate, "nom", OBJECT) if predicate else []
