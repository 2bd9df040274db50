"""Draw sentences with "schloss", labelled with its meaning: a castle or a lock."""

from typing import Any

from transformer.data.language.dice import Dice
from transformer.data.language.nouns import NOUN_BY_NAME, Noun
from transformer.data.language.sentences import sample_sentence

WORD = "schloss"
SENSES = ("castle", "lock")

Sentences = tuple[tuple[str, ...], ...]


class LoadedDice(Dice):
    """Dice that prefer a given noun, and verbs that can have it as their object."""

    def __init__(self, seed: int, noun: Noun) -> None:
        """Seed the dice, and store the noun to prefer."""
        super().__init__(seed)
        self.noun = noun

    def pick(self, choices: Any) -> Any:
        """Return a choice; every second draw is limited to choices with the noun."""
        wanted = self.chance(0.5) and [one for one in choices if self._is_wanted(one)]
        return super().pick(wanted or choices)

    def _is_wanted(self, choice: Any) -> bool:
        return choice is self.noun or self.noun in getattr(choice, "objects", ())


def make_sense_sentences(
    n_sentences: int, seed: int
) -> tuple[Sentences, tuple[int, ...]]:
    """Draw German sentences in which "schloss" is a castle and a lock in turn.

    Each sentence contains "schloss" once.

    Args:
        n_sentences: number of sentences.
        seed: equal seeds give equal sentences; no sentence occurs twice.

    Returns:
        The words of each sentence, and the index of its meaning in `SENSES`.
    """
    dice = [LoadedDice(seed, NOUN_BY_NAME[name]) for name in SENSES]
    found: dict[tuple[str, ...], int] = {}
    while len(found) < n_sentences:
        sense = len(found) % len(SENSES)
        sentence = sample_sentence(dice[sense])
        if sentence is None:
            continue
        german = tuple([word for word, _ in sentence.german])
        english = [word for word, _ in sentence.english]
        if german.count(WORD) == english.count(SENSES[sense]) == 1:
            found.setdefault(german, sense)
    return tuple(found), tuple(found.values())
