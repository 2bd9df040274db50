"""Draw random predicates: the objects and places that each verb needs."""

from typing import Any

from .adjectives import ADJECTIVES_OF
from .nouns import NOUNS, select_nouns
from .phrase_sampler import PhraseSampler
from .phrases import BARE, DAS, NO, A, NounPhrase, Pronoun
from .places import FOR, LEISURE_PLACES, WITH, WITHOUT, Preposition
from .verbs import VERBS_BY_FRAME

Parts = dict[str, Any]  # fields of a Clause that are known so far

_PEOPLE = select_nouns("person")
_COMPANY = select_nouns("person,animal")
_MOVABLE = select_nouns("person,animal,thing,text,clothing")
# "die bank ist alt" is ambiguous, because both readings make sense.
_DESCRIBED = tuple(
    noun
    for noun in NOUNS
    if ADJECTIVES_OF[noun] and noun.german not in ("bank", "schloss")
) + 3 * select_nouns("matter,suitcase,bag,gift")  # otherwise "schwer" is rare
_POINTED_AT = select_nouns("person,animal,thing,vehicle,house,text,clothing,drink")
_SPOTS = select_nouns("spot,room,garden,park")
_FOR_SOMEBODY = ("buy", "cook", "bake", "paint", "write", "sing")
_IN_COMPANY = ("dance", "play", "work", "study", "swim", "come back", "wait")
_WITHOUT_PLACE = ("arrive", "come back", "run away", "get up")
_ANYWHERE = ("read", "eat", "drink", "see", "find", "meet", "sing", "look for", "hear")


def identify(phrases: PhraseSampler) -> Parts:
    """Draw "das ist ein alter mann"."""
    dice = phrases.dice
    noun = dice.pick(_POINTED_AT)
    phrase = phrases.noun_phrase(noun, "object", adjectives=0.6)
    while phrase.plural:  # "das sind" would need "those are"
        phrase = phrases.noun_phrase(noun, "object", adjectives=0.6)
    indefinite = phrase.determiner in (A, BARE)
    if not dice.chance(0.25):
        return {"subject": DAS, "predicate": phrase}
    if indefinite:
        phrase = phrase._replace(determiner=NO)
    negation = "kein" if indefinite else "nicht"
    return {"subject": DAS, "predicate": phrase, "negation": negation}


def describe(phrases: PhraseSampler) -> Parts:
    """Draw "der mann ist alt"."""
    dice = phrases.dice
    noun = dice.pick(_DESCRIBED)
    adjective = dice.pick(ADJECTIVES_OF[noun])
    if noun in _PEOPLE and dice.chance(0.5):
        subject = phrases.subject(VERBS_BY_FRAME["dat"][0])
        if isinstance(subject, Pronoun):
            return {"subject": subject, "predicate": adjective}
    subject = phrases.noun_phrase(noun, "subject", adjectives=0.0)
    return {"subject": subject, "predicate": adjective}


def put_somewhere(phrases: PhraseSampler) -> Parts:
    """Draw "der schlüssel ist unter dem tisch"."""
    noun = phrases.dice.pick(_MOVABLE)
    subject = phrases.noun_phrase(noun, "subject", adjectives=0.25)
    return {"subject": subject, "adjunct": phrases.any_location(_SPOTS, goal=False)}


def fill_frame(phrases: PhraseSampler, parts: Parts) -> None:
    """Add the objects or the place that the verb of `parts` needs."""
    _FILL[parts["verb"].frame](phrases, parts)


def _fill_intransitive(phrases: PhraseSampler, parts: Parts) -> None:
    dice, verb = phrases.dice, parts["verb"]
    if phrases.short:
        return
    if verb.name in _IN_COMPANY and dice.chance(0.3):
        parts["adjunct"] = _company(phrases, parts["subject"])
    elif verb.name not in _WITHOUT_PLACE and dice.chance(0.35):
        place = dice.pick(LEISURE_PLACES)
        parts["adjunct"] = phrases.location(place, goal=False)


def _company(
    phrases: PhraseSampler, subject: NounPhrase | Pronoun
) -> tuple[Preposition, NounPhrase]:
    noun = phrases.dice.pick(_COMPANY)
    while isinstance(subject, NounPhrase) and noun is subject.noun:
        noun = phrases.dice.pick(_COMPANY)
    preposition = phrases.dice.pick((WITH, WITH, WITHOUT))
    return preposition, phrases.noun_phrase(noun, "other")


def _fill_accusative(phrases: PhraseSampler, parts: Parts) -> None:
    dice, verb = phrases.dice, parts["verb"]
    parts["object"] = phrases.direct_object(verb, parts["subject"])
    if phrases.short:
        return
    if verb.name in _FOR_SOMEBODY and dice.chance(0.25):
        somebody = phrases.noun_phrase(dice.pick(_PEOPLE), "other")
        parts["adjunct"] = (FOR, somebody)
    elif verb.name in _ANYWHERE and dice.chance(0.2):
        place = dice.pick(LEISURE_PLACES)
        parts["adjunct"] = phrases.location(place, goal=False)


def _fill_dative(phrases: PhraseSampler, parts: Parts) -> None:
    parts["recipient"] = phrases.recipient(parts["subject"], parts["verb"].objects)


def _fill_ditransitive(phrases: PhraseSampler, parts: Parts) -> None:
    parts["recipient"] = phrases.recipient(parts["subject"], _PEOPLE)
    parts["object"] = phrases.direct_object(parts["verb"], parts["subject"])


def _fill_place(phrases: PhraseSampler, parts: Parts) -> None:
    parts["adjunct"] = phrases.any_location(parts["verb"].objects, goal=False)


def _fill_way(phrases: PhraseSampler, parts: Parts) -> None:
    parts["adjunct"] = phrases.any_location(parts["verb"].objects, goal=True)


_FILL = {
    "none": _fill_intransitive,
    "acc": _fill_accusative,
    "dat": _fill_dative,
    "ditr": _fill_ditransitive,
    "place": _fill_place,
    "way": _fill_way,
}
