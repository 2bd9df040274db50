"""Prepositions of place: the nouns they go with, their case and their translation."""

from typing import NamedTuple

from .nouns import NOUN_BY_NAME, Noun

# Columns: the noun; prepositions for a place (with the dative); prepositions for a goal
# (with the dative after "zu", otherwise with the accusative). The case decides whether
# German "in" means "in" or "into".
_TABLE = """
house          in=in,vor=in_front_of,hinter=behind,neben=next_to  in=into
school         in=in,vor=in_front_of                              zu=to,in=into
museum         in=in,vor=in_front_of                              zu=to,in=into
church         in=in,hinter=behind                                zu=to,in=into
hospital       in=in,neben=next_to                                zu=to,in=into
train_station  an=at,hinter=behind                                zu=to
castle         in=in,vor=in_front_of                              zu=to,in=into
bank           in=in                                              in=into
kitchen        in=in                                              in=into
living_room    in=in                                              in=into
garden         in=in                                              in=into,durch=through
park           in=in                                              in=into,durch=through
city           in=in                                              in=into,durch=through
village        in=in                                              in=into,durch=through
forest         in=in                                              in=into,durch=through
lake           an=at                                              zu=to,in=into
market         auf=at                                             zu=to,über=across
street         auf=on                                             über=across
bridge         auf=on,unter=under                                 über=across
tree           unter=under,hinter=behind,neben=next_to            zu=to
apple_tree     unter=under,hinter=behind,neben=next_to            zu=to
table          auf=on,unter=under,neben=next_to                   auf=onto
kitchen_table  auf=on,unter=under                                 auf=onto
bed            in=in,unter=under,neben=next_to                    auf=onto
sofa           auf=on,hinter=behind                               auf=onto
chair          auf=on,neben=next_to                               auf=onto
roof           auf=on                                             auf=onto
bench          auf=on                                             auf=onto
"""


class Preposition(NamedTuple):
    """A preposition with its case in this use, and its translation."""

    german: str
    case: str
    english: tuple[str, ...]


class Place(NamedTuple):
    """A noun, with the prepositions for being there and for going there."""

    noun: Noun
    where: tuple[Preposition, ...]
    goal: tuple[Preposition, ...]


def _parse_prepositions(text: str, case: str) -> tuple[Preposition, ...]:
    parsed = []
    for item in text.split(","):
        german, english = item.split("=")
        governed = "dat" if german == "zu" else case
        parsed.append(Preposition(german, governed, tuple(english.split("_"))))
    return tuple(parsed)


def _parse(line: str) -> Place:
    noun, where, goal = line.split()
    return Place(
        NOUN_BY_NAME[noun],
        _parse_prepositions(where, "dat"),
        _parse_prepositions(goal, "acc"),
    )


PLACES: dict[str, Place] = {
    place.noun.name: place for place in map(_parse, _TABLE.strip().splitlines())
}
_LEISURE = "garden,park,house,school,city,village,forest,lake,castle,bank,bench"
LEISURE_PLACES = tuple(PLACES[name] for name in _LEISURE.split(","))
WITH = Preposition("mit", "dat", ("with",))
WITHOUT = Preposition("ohne", "acc", ("without",))
FOR = Preposition("für", "acc", ("for",))
