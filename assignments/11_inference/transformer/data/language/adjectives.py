"""The adjectives, and the nouns that each adjective can describe."""

from typing import NamedTuple

from .nouns import NOUNS, Noun, select_nouns

# Columns: German; the stem before an ending, if different; English; the nouns that it
# can describe.
_TABLE = """
klein       -     small       person,animal,thing,clothing,vehicle,building,room,spot
groß        -     tall        person
groß        -     big         animal,thing,vehicle,building,area,spot,room
alt         -     old         person,animal,thing,clothing,vehicle,building,text,spot
neu         -     new         thing,clothing,vehicle,building,text,song,opening
jung        -     young       person,animal
schön       -     beautiful   woman,girl,horse,bird,clothing,building,area,song,flower
rot         -     red         thing,clothing,vehicle,opening
blau        -     blue        thing,clothing,vehicle,opening
grün        -     green       thing,clothing,vehicle,opening
schwarz     -     black       animal,thing,clothing,vehicle
weiß        -     white       animal,clothing,vehicle,house,spot,opening
müde        müd   tired       person,animal
hungrig     -     hungry      person,animal
krank       -     sick        person,animal
glücklich   -     happy       person
traurig     -     sad         person,story,song,poem
freundlich  -     friendly    person
frisch      -     fresh       food,milk,orange_juice
kalt        -     cold        drink,soup,tomato_soup,meat
warm        -     warm        drink,soup,tomato_soup,bread
süß         -     sweet       sweet,tea,orange_juice
teuer       teur  expensive   thing,clothing,vehicle,text,meat,cheese
billig      -     cheap       thing,clothing,vehicle,text
schwer      -     heavy       suitcase,bag,school_bag,gift,chair,computer
schwer      -     difficult   matter,book,poem
leicht      -     light       suitcase,bag,school_bag,gift,chair,jacket,shoe,coat
leicht      -     easy        matter
lang        -     long        text,street,bridge,song
interessant -     interesting text,matter,museum,city,picture
lustig      -     funny       text,picture,song,hat
wichtig     -     important   matter,letter,key,book
leer        -     empty       vessel,house,bus,train,street,room
kaputt      -     broken      vehicle,device,glass,coffee_cup,chair,umbrella,opening
dunkel      dunkl dark        house,church,room,street,forest
schnell     -     fast        horse,car,police_car,train,boat,bicycle
"""


class Adjective(NamedTuple):
    """An adjective with one meaning."""

    german: str
    stem: str
    english: str
    nouns: tuple[Noun, ...]


def _parse(line: str) -> Adjective:
    german, stem, english, nouns = line.split()
    stem = german if stem == "-" else stem
    return Adjective(german, stem, english, select_nouns(nouns))


ADJECTIVES: tuple[Adjective, ...] = tuple(map(_parse, _TABLE.strip().splitlines()))
PASSING = (
    "tired",
    "hungry",
    "sick",
    "happy",
    "sad",
    "friendly",
    "cold",
    "warm",
    "empty",
)
ADJECTIVE_BY_NAME: dict[str, Adjective] = {word.english: word for word in ADJECTIVES}
ADJECTIVES_OF: dict[Noun, tuple[Adjective, ...]] = {
    noun: tuple(word for word in ADJECTIVES if noun in word.nouns) for noun in NOUNS
}
