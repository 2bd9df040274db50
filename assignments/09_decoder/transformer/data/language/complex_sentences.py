"""Sentences of two clauses joined by a conjunction.

In German, the subordinate clause ends with its verb.
"""

from dataclasses import replace

from .clauses import Clause
from .dice import Dice
from .english_clauses import statement
from .german_clauses import verb_first, verb_last, verb_second
from .phrases import CLAUSE_BITS, COMMA, CONJUNCTION, SUBJECT, VERB, Word
from .sampler import sample_clause, sample_speaker
from .sentence import Sentence, finish

_RAIN = (
    [("es", SUBJECT), ("regnet", VERB)],
    [("it", SUBJECT), ("is", VERB), ("raining", VERB)],
    (),
)
_RAIN_SHARE = 0.03
_COMMA = (",", COMMA)

Subordinate = tuple[list[Word], list[Word], tuple[Clause, ...]]


def sample_report(dice: Dice) -> Sentence:
    """Draw "sie weiß , dass der mann das buch liest ."."""
    main = sample_speaker(dice)
    return _join(main, ("dass", "that"), _subordinate(dice))


def sample_doubt(dice: Dice) -> Sentence:
    """Draw "er weiß nicht , ob die frau den mann anruft ."."""
    main = sample_speaker(dice, frame="whether")
    if main.verb and main.verb.english == "know":
        main = replace(main, negation="nicht")
    return _join(main, ("ob", "whether"), _subordinate(dice))


def sample_reason(dice: Dice) -> Sentence:
    """Draw "das kind weint , weil die mutter schläft ."."""
    main = sample_clause(dice, short=True)
    return _join(main, ("weil", "because"), _subordinate_or_rain(dice))


def sample_condition(dice: Dice) -> Sentence:
    """Draw "wenn es regnet , liest sie .", whose main clause begins with its verb."""
    german, english, clauses = _subordinate_or_rain(dice)
    main = sample_clause(dice, short=True)
    return finish(
        [("wenn", CONJUNCTION), *german, _COMMA, *_shifted(verb_first(main))],
        [("when", CONJUNCTION), *english, _COMMA, *_shifted(statement(main))],
        ".",
        main,
        *clauses,
    )


def _join(main: Clause, words: tuple[str, str], rest: Subordinate) -> Sentence:
    german, english, clauses = rest
    joint = [(word, CONJUNCTION) for word in words]
    return finish(
        [*verb_second(main), _COMMA, joint[0], *_shifted(german)],
        [*statement(main), joint[1], *_shifted(english)],
        ".",
        main,
        *clauses,
    )


def _subordinate(dice: Dice) -> Subordinate:
    clause = sample_clause(dice, short=True)
    return verb_last(clause), statement(clause), (clause,)


def _subordinate_or_rain(dice: Dice) -> Subordinate:
    return _RAIN if dice.chance(_RAIN_SHARE) else _subordinate(dice)


def _shifted(words: list[Word]) -> list[Word]:
    """Shift the second clause's alignment bits, so that no other clause uses them."""
    return [(word, bits << CLAUSE_BITS) for word, bits in words]
