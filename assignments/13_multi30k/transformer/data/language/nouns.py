"""The nouns, with gender, forms, translation and semantic classes."""

from typing import NamedTuple

# Columns: German; the German form in the other singular cases, if different; gender;
# plural; English; its plural; classes. An underscore joins two English words. A mass
# noun has no plural.
_TABLE = """
mann          -         m männer           man            men             person,living
frau          -         f frauen           woman          women           person,living
kind          -         n kinder           child          children        person,living
junge         jungen    m jungen           boy            boys            person,living
mädchen       -         n mädchen          girl           girls           person,living
lehrer        -         m lehrer           teacher        teachers        person,living
ärztin        -         f ärztinnen        doctor         doctors         person,living
student       studenten m studenten        student        students        person,living
nachbar       nachbarn  m nachbarn         neighbour      neighbours      person,living
freund        -         m freunde          friend         friends         person,living
mutter        -         f mütter           mother         mothers         person,living
vater         -         m väter            father         fathers         person,living
bruder        -         m brüder           brother        brothers        person,living
schwester     -         f schwestern       sister         sisters         person,living
bauer         bauern    m bauern           farmer         farmers         person,living
onkel         -         m onkel            uncle          uncles          person,living
tante         -         f tanten           aunt           aunts           person,living
polizistin    -         f polizistinnen    police_officer police_officers person,living
busfahrer     -         m busfahrer        bus_driver     bus_drivers     person,living
hund          -         m hunde            dog            dogs            animal,living
katze         -         f katzen           cat            cats            animal,living
pferd         -         n pferde           horse          horses          animal,living
vogel         -         m vögel            bird           birds           animal,living
maus          -         f mäuse            mouse          mice            animal,living
kuh           -         f kühe             cow            cows            animal,living
affe          affen     m affen            monkey         monkeys         animal,living
ente          -         f enten            duck           ducks           animal,living
apfel         -         m äpfel            apple          apples          food,sweet
birne         -         f birnen           pear           pears           food,sweet
kuchen        -         m kuchen           cake           cakes           food,sweet
apfelkuchen   -         m apfelkuchen      apple_cake     apple_cakes     food,sweet
ei            -         n eier             egg            eggs            food
kartoffel     -         f kartoffeln       potato         potatoes        food
suppe         -         f suppen           soup           soups           food
tomatensuppe  -         f tomatensuppen    tomato_soup    tomato_soups    food
brot          -         n -                bread          -               food
käse          -         m -                cheese         -               food
fleisch       -         n -                meat           -               food
schokolade    -         f -                chocolate      -               food,sweet
eis           -         n -                ice_cream      -               food,sweet
wasser        -         n -                water          -               drink
milch         -         f -                milk           -               drink
kaffee        -         m -                coffee         -               drink
tee           -         m -                tea            -               drink
orangensaft   -         m -                orange_juice   -               drink
buch          -         n bücher           book           books           text
brief         -         m briefe           letter         letters         text
zeitung       -         f zeitungen        newspaper      newspapers      text
gedicht       -         n gedichte         poem           poems           text
geschichte    -         f geschichten      story          stories         text
ball          -         m bälle            ball           balls           thing
schlüssel     -         m schlüssel        key            keys            thing
tasche        -         f taschen          bag            bags            thing,vessel
schultasche   -         f schultaschen     school_bag     school_bags     thing,vessel
kaffeetasse   -         f kaffeetassen     coffee_cup     coffee_cups     thing,vessel
glas          -         n gläser           glass          glasses         thing,vessel
koffer        -         m koffer           suitcase       suitcases       thing,vessel
stuhl         -         m stühle           chair          chairs          thing
lampe         -         f lampen           lamp           lamps           thing,device
uhr           -         f uhren            clock          clocks          thing,device
computer      -         m computer         computer       computers       thing,device
bild          -         n bilder           picture        pictures        thing
blume         -         f blumen           flower         flowers         thing
messer        -         n messer           knife          knives          thing
regenschirm   -         m regenschirme     umbrella       umbrellas       thing
geschenk      -         n geschenke        gift           gifts           thing
auto          -         n autos            car            cars            vehicle
polizeiauto   -         n polizeiautos     police_car     police_cars     vehicle
fahrrad       -         n fahrräder        bicycle        bicycles        vehicle
bus           -         m busse            bus            buses           vehicle
zug           -         m züge             train          trains          vehicle
boot          -         n boote            boat           boats           vehicle
hemd          -         n hemden           shirt          shirts          clothing
mantel        -         m mäntel           coat           coats           clothing
schuh         -         m schuhe           shoe           shoes           clothing
kleid         -         n kleider          dress          dresses         clothing
hut           -         m hüte             hat            hats            clothing
jacke         -         f jacken           jacket         jackets         clothing
tür           -         f türen            door           doors           opening
haustür       -         f haustüren        front_door     front_doors     opening
fenster       -         n fenster          window         windows         opening
schloss       -         n schlösser        lock           locks           opening
frage         -         f fragen           question       questions       matter
antwort       -         f antworten        answer         answers         matter
aufgabe       -         f aufgaben         task           tasks           matter
lied          -         n lieder           song           songs           song
haus          -         n häuser           house          houses          building
schule        -         f schulen          school         schools         building
museum        -         n museen           museum         museums         building
kirche        -         f kirchen          church         churches        building
krankenhaus   -         n krankenhäuser    hospital       hospitals       building
bahnhof       -         m bahnhöfe         train_station  train_stations  building
schloss       -         n schlösser        castle         castles         building
bank          -         f banken           bank           banks           building
küche         -         f küchen           kitchen        kitchens        room
wohnzimmer    -         n wohnzimmer       living_room    living_rooms    room
garten        -         m gärten           garden         gardens         area
park          -         m parks            park           parks           area
stadt         -         f städte           city           cities          area
dorf          -         n dörfer           village        villages        area
wald          -         m wälder           forest         forests         area
see           -         m seen             lake           lakes           area
markt         -         m märkte           market         markets         area
straße        -         f straßen          street         streets         area
brücke        -         f brücken          bridge         bridges         area
baum          -         m bäume            tree           trees           spot
apfelbaum     -         m apfelbäume       apple_tree     apple_trees     spot
tisch         -         m tische           table          tables          spot
küchentisch   -         m küchentische     kitchen_table  kitchen_tables  spot
bett          -         n betten           bed            beds            spot
sofa          -         n sofas            sofa           sofas           spot
dach          -         n dächer           roof           roofs           spot
bank          -         f bänke            bench          benches         spot
"""


class Noun(NamedTuple):
    """A noun with one meaning, so that "bank" and "schloss" are two nouns each."""

    german: str
    oblique: str
    gender: int
    german_plural: str
    english: tuple[str, ...]
    english_plural: tuple[str, ...]
    classes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the English word, which is different for each meaning."""
        return "_".join(self.english)

    @property
    def countable(self) -> bool:
        """Return whether the noun has a plural."""
        return bool(self.german_plural)


MASCULINE, PLURAL = 0, 3  # columns of a table of endings; 1, 2: feminine, neuter


def _parse(line: str) -> Noun:
    german, oblique, gender, plural, english, english_plural, classes = line.split()
    countable = plural != "-"
    return Noun(
        german,
        german if oblique == "-" else oblique,
        "mfn".index(gender),
        plural if countable else "",
        tuple(english.split("_")),
        tuple(english_plural.split("_")) if countable else (),
        tuple(classes.split(",")),
    )


NOUNS: tuple[Noun, ...] = tuple(map(_parse, _TABLE.strip().splitlines()))
NOUN_BY_NAME: dict[str, Noun] = {noun.name: noun for noun in NOUNS}


def select_nouns(description: str) -> tuple[Noun, ...]:
    """Return the nouns with these classes or names, such as "person,animal,letter"."""
    wanted = description.split(",")
    known = {name for noun in NOUNS for name in (noun.name, *noun.classes)}
    if unknown := [word for word in wanted if word not in known]:
        raise ValueError(f"expected classes or names of nouns, found {unknown[0]!r}")
    return tuple(
        noun for noun in NOUNS if noun.name in wanted or set(noun.classes) & set(wanted)
    )
