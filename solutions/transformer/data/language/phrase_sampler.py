"""Draw random phrases for subjects, objects and places."""

from .adjectives import ADJECTIVES_OF
from .dice import Dice
from .nouns import NOUN_BY_NAME, Noun, select_nouns
from .phrases import (
    BARE,
    DU,
    ER,
    EVERY,
    HIS,
    ICH,
    MY,
    NO,
    OUR,
    SIE_PLURAL,
    SIE_SINGULAR,
    THE,
    THIS,
    WIR,
    YOUR,
    A,
    NounPhrase,
    Phrase,
    Pronoun,
)
from .places import PLACES, Place, Preposition
from .verbs import Verb

_MAN = NOUN_BY_NAME["man"]  # if "man" can be the subject, so can "he"
_SUBJECT_PRONOUNS = (ICH, DU, ER, ER, SIE_SINGULAR, SIE_SINGULAR, WIR, SIE_PLURAL)
_OBJECT_PRONOUNS = (ICH, DU, ER, WIR)
_POSSESSIVES = (MY, YOUR, HIS, OUR)
_SHARED = (*(THE,) * 10, *_POSSESSIVES, THIS, THIS)
# "mein mann" means "my husband" and "mein mädchen" "my girlfriend", and a forest has no
# owner.
_NOBODYS = frozenset(
    set(select_nouns("man,woman,boy,girl,building,area"))
    - set(select_nouns("house,school,garden,city,village"))
)
_DETERMINERS = {
    ("subject", "singular"): (*_SHARED, A, A, EVERY, NO),
    ("subject", "plural"): (*_SHARED, BARE, BARE, NO),
    ("subject", "mass"): _SHARED,
    ("object", "singular"): (*_SHARED, A, A, A, A),
    ("object", "plural"): (*_SHARED, BARE, BARE, BARE),
    ("object", "mass"): (*_SHARED, *(BARE,) * 8),
    ("other", "singular"): (*_SHARED, A, A),
    ("other", "plural"): _SHARED,
    ("other", "mass"): _SHARED,
}


class PhraseSampler:
    """Draw phrases, with more pronouns and fewer adjectives in short clauses."""

    def __init__(self, dice: Dice, short: bool) -> None:
        """Store the dice, and whether the clause is short."""
        self.dice = dice
        self.short = short
        self.adjectives = 0.15 if short else 0.4

    def noun_phrase(
        self, noun: Noun, role: str, adjectives: float | None = None
    ) -> NounPhrase:
        """Draw a number, a determiner and perhaps an adjective for a noun.

        Args:
            noun: the noun.
            role: "subject", "object" or "other". It decides which determiners are
                possible.
            adjectives: probability of an adjective; None for the usual probability.
        """
        dice = self.dice
        plural = noun.countable and dice.chance(0.25)
        number = "plural" if plural else "singular" if noun.countable else "mass"
        determiner = dice.pick(_DETERMINERS[role, number])
        if determiner in _POSSESSIVES and noun in _NOBODYS:
            determiner = THE
        adjective = None
        if dice.chance(self.adjectives if adjectives is None else adjectives):
            adjective = dice.pick(ADJECTIVES_OF[noun]) if ADJECTIVES_OF[noun] else None
        return NounPhrase(noun, determiner, plural, adjective)

    def subject(self, verb: Verb) -> Phrase:
        """Draw a subject for a verb."""
        if verb.subjects[0] is _MAN and self.dice.chance(0.6 if self.short else 0.3):
            return self.dice.pick(_SUBJECT_PRONOUNS)
        return self.noun_phrase(self.dice.pick(verb.subjects), "subject")

    def recipient(self, other_than: Phrase, nouns: tuple[Noun, ...]) -> Phrase:
        """Draw a dative object, different from the subject."""
        return self._other(other_than, nouns, "other")

    def direct_object(self, verb: Verb, other_than: Phrase) -> Phrase:
        """Draw a direct object for a verb, different from the subject."""
        return self._other(other_than, verb.objects, "object")

    def location(self, place: Place, goal: bool) -> tuple[Preposition, NounPhrase]:
        """Draw a prepositional phrase for a place, or for a movement to it."""
        preposition = self.dice.pick(place.goal if goal else place.where)
        return preposition, self.noun_phrase(place.noun, "other", 0.25)

    def any_location(
        self, nouns: tuple[Noun, ...], goal: bool
    ) -> tuple[Preposition, NounPhrase]:
        """Draw a prepositional phrase for one of these nouns, as `location` does."""
        return self.location(PLACES[self.dice.pick(nouns).name], goal)

    def _other(self, taken: Phrase, nouns: tuple[Noun, ...], role: str) -> Phrase:
        if _MAN in nouns and self.dice.chance(0.25):
            return self.dice.pick(_pronouns_beside(taken))
        noun = self.dice.pick(nouns)
        while isinstance(taken, NounPhrase) and noun is taken.noun:
            noun = self.dice.pick(nouns)
        return self.noun_phrase(noun, role)


def _pronouns_beside(subject: Phrase) -> tuple[Pronoun, ...]:
    """Return the pronouns that can be this subject's object and are not reflexive."""
    if subject in (ICH, WIR):
        return (DU, ER)
    return tuple(word for word in _OBJECT_PRONOUNS if word is not subject)
