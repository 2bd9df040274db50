"""The verbs, with their forms, translations, and possible subjects and objects."""

from typing import NamedTuple

from .nouns import Noun, select_nouns

# Columns: German (prefix+verb if separable); the stem for "du" and "er", if different;
# English; frame; subjects; objects. The particle "up" of "pick~up" comes after a
# pronoun ("pick it up"). The "for" of "look_for" comes before it.
_TABLE = """
schlafen      schläf  sleep       none    living       -
lachen        -       laugh       none    person       -
weinen        -       cry         none    person       -
tanzen        -       dance       none    person       -
arbeiten      -       work        none    person       -
spielen       -       play        none    living       -
schwimmen     -       swim        none    living       -
warten        -       wait        none    person       -
lernen        -       study       none    person       -
lächeln       -       smile       none    person       -
auf+stehen    -       get_up      none    person       -
ein+schlafen  schläf  fall_asleep none    living       -
auf+wachen    -       wake_up     none    living       -
weg+laufen    läuf    run_away    none    living       -
zurück+kommen -       come_back   none    living       -
an+kommen     -       arrive      none    person,bus   -
lesen         lies    read        acc     person       text
schreiben     -       write       acc     person       letter,poem,story,book,song
essen         iss     eat         acc     living       food
trinken       -       drink       acc     person       drink
kaufen        -       buy         acc     person       thing,food,drink,vehicle,clothing
verkaufen     -       sell        acc     person       vehicle,clothing,thing,house,text
suchen        -       look_for    acc     person       thing,living,clothing
finden        -       find        acc     living       thing,living
sehen         sieh    see         acc     living       living,vehicle,house,lake,bridge
hören         -       hear        acc     living       living,song,vehicle
lieben        -       love        acc     person       living,sweet
kennen        -       know        acc     person       person,story,song,city,village
besuchen      -       visit       acc     person       person,museum,castle,city,village
treffen       triff   meet        acc     person       person
malen         -       paint       acc     person       animal,house,tree,flower,boat
öffnen        -       open        acc     person       opening,suitcase,bag,letter
schließen     -       close       acc     person       door,front_door,window,suitcase
reparieren    -       repair      acc     person       vehicle,device,roof,lock,chair
tragen        träg    wear        acc     person       clothing
tragen        träg    carry       acc     person       suitcase,bag,school_bag,chair
waschen       wäsch   wash        acc     person       clothing,car,horse,dog,potato
brauchen      -       need        acc     person       thing,clothing,vehicle
verlieren     -       lose        acc     person       key,ball,bag,umbrella,hat
vergessen     vergiss forget      acc     person       key,bag,umbrella,gift,matter
verstehen     -       understand  acc     person       matter,text,person
kochen        -       cook        acc     person       soup,tomato_soup,potato,egg,meat
backen        -       bake        acc     person       cake,apple_cake,bread
singen        -       sing        acc     person       song
jagen         -       chase       acc     animal       animal
füttern       -       feed        acc     person       animal
bauen         -       build       acc     person       house,bridge,boat,table
schneiden     -       cut         acc     person       bread,cheese,cake,meat,apple_cake
an+rufen      -       call        acc     person       person
ab+holen      -       pick~up     acc     person       person,suitcase,gift
ein+laden     läd     invite      acc     person       person
mit+bringen   -       bring~along acc     person       cake,ball,bread,dog,flower,gift
mit+nehmen    nimm    take~along  acc     person       bag,umbrella,computer,child,dog
auf+räumen    -       tidy~up     acc     person       room,house,garden
an+ziehen     -       put~on      acc     person       clothing
aus+ziehen    -       take~off    acc     person       clothing
weg+werfen    wirf    throw~away  acc     person       thing,letter,newspaper,bread
an+machen     -       turn~on     acc     person       lamp,computer
aus+machen    -       turn~off    acc     person       lamp,computer
auf+wecken    -       wake~up     acc     person       person
an+sehen      sieh    look_at     acc     living       picture,living
helfen        hilf    help        dat     person       person
danken        -       thank       dat     person       person
folgen        -       follow      dat     living       living
antworten     -       answer      dat     person       person
geben         gib     give        ditr    person       thing,text,sweet
zeigen        -       show        ditr    person       thing,text,vehicle,house
schicken      -       send        ditr    person       letter,gift,picture,flower,book
bringen       -       bring       ditr    person       food,drink,thing
wissen        -       know        that    person       -
glauben       -       believe     that    person       -
hoffen        -       hope        that    person       -
sagen         -       say         that    person       -
denken        -       think       that    person       -
wissen        -       know        whether person       -
fragen        -       ask         whether person       -
erklären      -       explain     ditr    person       matter,picture,text
sitzen        -       sit         place   living       area,room,spot,chair,school
stehen        -       stand       place   living       area,building,room,tree,table
liegen        -       lie         place   animal,thing spot,kitchen,street,garden,chair
wohnen        -       live        place   person       house,castle,city,village,forest
gehen         -       go          way     person       building,room,area
laufen        läuf    run         way     living       building,room,area
fahren        fähr    drive       way     person       city,village,bridge,train_station
kommen        -       come        way     living       building,room,garden,park,city
springen      -       jump        way     living       table,bed,sofa,bench,chair,roof
"""


class Verb(NamedTuple):
    """A verb with one meaning and one pattern of objects.

    `frame` names the pattern: "none", "acc", "dat", "ditr" (dative and accusative),
    "that" and "whether" (a clause), "place" (in the house) or "way" (into the house).
    For "place" and "way", `objects` are the places.
    """

    german: str
    prefix: str
    changed_stem: str
    english: str
    particle: str
    particle_moves: bool
    frame: str
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]

    @property
    def infinitive(self) -> str:
        """Return the German infinitive as one word, such as "anrufen"."""
        return self.prefix + self.german

    @property
    def name(self) -> str:
        """Return the English verb and particle, which differ for each meaning."""
        return f"{self.english} {self.particle}".strip()


def _parse(line: str) -> Verb:
    german, changed, english, frame, subjects, objects = line.split()
    prefix, _, simple = german.rpartition("+")
    moves = "~" in english
    head, _, particle = english.replace("~", "_").partition("_")
    return Verb(
        simple,
        prefix,
        "" if changed == "-" else changed,
        head,
        particle,
        moves,
        frame,
        select_nouns(subjects),
        () if objects == "-" else select_nouns(objects),
    )


VERBS: tuple[Verb, ...] = tuple(map(_parse, _TABLE.strip().splitlines()))
VERBS_BY_FRAME: dict[str, tuple[Verb, ...]] = {
    frame: tuple(verb for verb in VERBS if verb.frame == frame)
    for frame in ("none", "acc", "dat", "ditr", "that", "whether", "place", "way")
}
