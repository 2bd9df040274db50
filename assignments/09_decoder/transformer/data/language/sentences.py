"""Draw random sentences of every kind in the grammar."""

from collections.abc import Callable

from .complex_sentences import (
    sample_condition,
    sample_doubt,
    sample_reason,
    sample_report,
)
from .dice import Dice
from .questions import (
    sample_object_question,
    sample_place_question,
    sample_reason_question,
    sample_recipient_question,
    sample_time_question,
    sample_who_question,
    sample_yes_no_question,
)
from .sentence import Sentence
from .statements import sample_statement

_WEIGHTS: dict[Callable[[Dice], Sentence | None], int] = {
    sample_statement: 26,
    sample_yes_no_question: 6,
    sample_who_question: 2,
    sample_object_question: 4,
    sample_recipient_question: 4,  # most draws are rejected
    sample_place_question: 4,
    sample_time_question: 2,
    sample_reason_question: 2,
    sample_report: 6,
    sample_doubt: 2,
    sample_reason: 6,
    sample_condition: 6,
}
_KINDS = tuple(kind for kind, weight in _WEIGHTS.items() for _ in range(weight))


def sample_sentence(dice: Dice) -> Sentence | None:
    """Draw a sentence, or return None if the drawn clause does not fit its kind."""
    return dice.pick(_KINDS)(dice)
