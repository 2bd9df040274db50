"""Draw questions, with the verb first, or second after a question word."""

from dataclasses import replace

from .clauses import Clause
from .dice import Dice
from .english_clauses import question, statement
from .german_clauses import verb_first, verb_second
from .nouns import select_nouns
from .phrases import (
    ADVERBIAL,
    OBJECT,
    PREPOSITION,
    QUESTION,
    RECIPIENT,
    WER,
    NounPhrase,
)
from .sampler import sample_clause
from .sentence import Sentence, finish

_PEOPLE = frozenset(select_nouns("person"))


def sample_yes_no_question(dice: Dice) -> Sentence:
    """Draw "liest der mann das buch ?"."""
    clause = sample_clause(dice)
    return finish(verb_first(clause), question(clause), "?", clause)


def sample_who_question(dice: Dice) -> Sentence | None:
    """Draw "wer liest das buch ?", whose translation needs no "do"."""
    clause = sample_clause(dice)
    if clause.verb is None:
        return None
    asked = replace(clause, subject=WER)
    return finish(verb_second(asked), statement(asked), "?", asked)


def sample_object_question(dice: Dice) -> Sentence | None:
    """Draw "was liest der mann ?" or "wen sieht er ?"."""
    clause = sample_clause(dice)
    if not isinstance(clause.object, NounPhrase) or clause.negation:
        return None
    if clause.verb and clause.verb.german == "tragen":
        return None  # without an object, "tragen" could be "wear" or "carry"
    words = ("wen", "who") if clause.object.noun in _PEOPLE else ("was", "what")
    return _ask(words, OBJECT << 2, replace(clause, object=None))


def sample_recipient_question(dice: Dice) -> Sentence | None:
    """Draw "wem hilft der mann ?"."""
    clause = sample_clause(dice)
    if clause.recipient is None or clause.object:
        return None
    return _ask(("wem", "who"), RECIPIENT << 2, replace(clause, recipient=None))


def sample_place_question(dice: Dice) -> Sentence | None:
    """Draw "wo sitzt die katze ?" or "wohin geht der mann ?"."""
    clause = sample_clause(dice)
    if clause.adjunct is None or clause.negation or clause.frequency:
        return None
    frame = clause.verb.frame if clause.verb else "state"
    if frame not in ("place", "way", "state"):
        return None
    words = ("wohin" if frame == "way" else "wo", "where")
    return _ask(words, PREPOSITION, replace(clause, adjunct=None))


def sample_time_question(dice: Dice) -> Sentence | None:
    """Draw "wann kommt der bus an ?"."""
    clause = sample_clause(dice)
    if clause.time is None:
        return None
    return _ask(("wann", "when"), ADVERBIAL, replace(clause, time=None))


def sample_reason_question(dice: Dice) -> Sentence:
    """Draw "warum weint das kind ?"."""
    return _ask(("warum", "why"), QUESTION, sample_clause(dice))


def _ask(words: tuple[str, str], bit: int, clause: Clause) -> Sentence:
    german, english = words
    return finish(
        [(german, bit), *verb_first(clause)],
        [(english, bit), *question(clause)],
        "?",
        clause,
    )
