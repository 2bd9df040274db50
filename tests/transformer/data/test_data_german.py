"""German forms, compared with tables written by hand."""

import pytest

from transformer.data.language.adjectives import ADJECTIVE_BY_NAME
from transformer.data.language.inflection import conjugate, inflect_noun
from transformer.data.language.nouns import NOUN_BY_NAME
from transformer.data.language.phrases import (
    BARE,
    EVERY,
    HIS,
    NO,
    OUR,
    THE,
    THIS,
    A,
    NounPhrase,
    german_phrase,
    german_prepositional,
)
from transformer.data.language.places import PLACES, Preposition
from transformer.data.language.verbs import VERBS

CASES = ("nom", "acc", "dat")
PHRASES = [
    ((THE, "dog", "small", False), "der kleine hund|den kleinen hund|dem kleinen hund"),
    ((THE, "woman", "old", False), "die alte frau|die alte frau|der alten frau"),
    ((THE, "house", "new", False), "das neue haus|das neue haus|dem neuen haus"),
    (
        (THE, "child", "sad", True),
        ("die traurigen kinder|die traurigen kinder|den traurigen kindern"),
    ),
    (
        (A, "dog", "small", False),
        ("ein kleiner hund|einen kleinen hund|einem kleinen hund"),
    ),
    ((A, "lamp", "red", False), "eine rote lampe|eine rote lampe|einer roten lampe"),
    (
        (A, "book", "expensive", False),
        ("ein teures buch|ein teures buch|einem teuren buch"),
    ),
    (
        (NO, "house", "dark", False),
        ("kein dunkles haus|kein dunkles haus|keinem dunklen haus"),
    ),
    (
        (NO, "boy", "tired", True),
        ("keine müden jungen|keine müden jungen|keinen müden jungen"),
    ),
    (
        (OUR, "neighbour", "friendly", False),
        (
            "unser freundlicher nachbar|unseren freundlichen nachbarn|"
            "unserem freundlichen nachbarn"
        ),
    ),
    (
        (HIS, "car", "broken", True),
        ("seine kaputten autos|seine kaputten autos|seinen kaputten autos"),
    ),
    (
        (THIS, "student", "young", False),
        ("dieser junge student|diesen jungen studenten|diesem jungen studenten"),
    ),
    (
        (EVERY, "key", "important", False),
        (
            "jeder wichtige schlüssel|jeden wichtigen schlüssel|"
            "jedem wichtigen schlüssel"
        ),
    ),
    ((BARE, "water", "cold", False), "kaltes wasser|kaltes wasser|kaltem wasser"),
    ((BARE, "milk", "fresh", False), "frische milch|frische milch|frischer milch"),
    ((BARE, "cheese", "expensive", False), "teurer käse|teuren käse|teurem käse"),
    ((BARE, "apple", "sweet", True), "süße äpfel|süße äpfel|süßen äpfeln"),
]
PRESENT = {
    "lachen": "lache lachst lacht lachen",
    "arbeiten": "arbeite arbeitest arbeitet arbeiten",
    "schneiden": "schneide schneidest schneidet schneiden",
    "öffnen": "öffne öffnest öffnet öffnen",
    "zeichnen": "zeichne zeichnest zeichnet zeichnen",
    "lernen": "lerne lernst lernt lernen",
    "wohnen": "wohne wohnst wohnt wohnen",
    "träumen": "träume träumst träumt träumen",
    "schwimmen": "schwimme schwimmst schwimmt schwimmen",
    "lächeln": "lächle lächelst lächelt lächeln",
    "spielen": "spiele spielst spielt spielen",
    "füttern": "füttere fütterst füttert füttern",
    "tanzen": "tanze tanzt tanzt tanzen",
    "sitzen": "sitze sitzt sitzt sitzen",
    "schließen": "schließe schließt schließt schließen",
    "gehen": "gehe gehst geht gehen",
    "sein": "bin bist ist sind",
    "wissen": "weiß weißt weiß wissen",
    "dürfen": "darf darfst darf dürfen",
}
STRONG = {
    "lesen": "lese liest liest lesen",
    "essen": "esse isst isst essen",
    "sehen": "sehe siehst sieht sehen",
    "treffen": "treffe triffst trifft treffen",
    "tragen": "trage trägst trägt tragen",
    "waschen": "wasche wäschst wäscht waschen",
    "vergessen": "vergesse vergisst vergisst vergessen",
    "laden": "lade lädst lädt laden",
    "nehmen": "nehme nimmst nimmt nehmen",
    "werfen": "werfe wirfst wirft werfen",
    "helfen": "helfe hilfst hilft helfen",
    "geben": "gebe gibst gibt geben",
    "schlafen": "schlafe schläfst schläft schlafen",
    "laufen": "laufe läufst läuft laufen",
    "fahren": "fahre fährst fährt fahren",
    "kommen": "komme kommst kommt kommen",
}


def written(words: list[tuple[str, int]]) -> str:
    """Return the words without their grammatical bits."""
    return " ".join(word for word, _ in words)


@pytest.mark.parametrize(("key", "forms"), PHRASES)
def test_noun_phrase_in_three_cases(key: tuple, forms: str) -> None:
    """Articles and the endings of adjectives and nouns agree in every case."""
    determiner, noun, adjective, plural = key
    phrase = NounPhrase(
        NOUN_BY_NAME[noun], determiner, plural, ADJECTIVE_BY_NAME[adjective]
    )
    found = [written(german_phrase(phrase, case, 1)) for case in CASES]
    assert found == forms.split("|")


@pytest.mark.parametrize(("infinitive", "forms"), PRESENT.items())
def test_regular_verbs(infinitive: str, forms: str) -> None:
    """The test covers the endings, with their linking e, and the irregular verbs."""
    assert " ".join(conjugate(infinitive)) == forms


@pytest.mark.parametrize(("infinitive", "forms"), STRONG.items())
def test_strong_verbs_of_the_lexicon(infinitive: str, forms: str) -> None:
    """Every verb of the lexicon with this infinitive has these forms."""
    verbs = [verb for verb in VERBS if verb.german == infinitive]
    assert verbs
    for verb in verbs:
        assert " ".join(conjugate(verb.german, verb.changed_stem)) == forms


@pytest.mark.parametrize(
    ("noun", "forms"),
    {
        "child": "kinder kinder kindern",
        "car": "autos autos autos",
        "woman": "frauen frauen frauen",
        "teacher": "lehrer lehrer lehrern",
        "cake": "kuchen kuchen kuchen",
        "uncle": "onkel onkel onkeln",
        "park": "parks parks parks",
    }.items(),
)
def test_dative_plural(noun: str, forms: str) -> None:
    """It ends in -n, except for plurals in -s."""
    found = [inflect_noun(NOUN_BY_NAME[noun], case, plural=True) for case in CASES]
    assert found == forms.split()


@pytest.mark.parametrize(
    ("preposition", "noun", "determiner", "plural", "expected"),
    [
        (("in", "dat"), "park", THE, False, "im park"),
        (("in", "acc"), "house", THE, False, "ins haus"),
        (("in", "acc"), "park", THE, False, "in den park"),
        (("an", "dat"), "lake", THE, False, "am see"),
        (("zu", "dat"), "train_station", THE, False, "zum bahnhof"),
        (("zu", "dat"), "school", THE, False, "zur schule"),
        (("zu", "dat"), "school", THE, True, "zu den schulen"),
        (("in", "dat"), "kitchen", THE, False, "in der küche"),
        (("in", "dat"), "park", THIS, False, "in diesem park"),
        (("auf", "acc"), "table", THE, False, "auf den tisch"),
    ],
)
def test_contractions(
    preposition: tuple[str, str], noun: str, determiner, plural: bool, expected: str
) -> None:
    """German joins some prepositions and definite articles into one word."""
    german, case = preposition
    phrase = NounPhrase(NOUN_BY_NAME[noun], determiner, plural)
    words = german_prepositional(Preposition(german, case, ("in",)), phrase)
    assert written(words) == expected


def test_two_way_prepositions_tell_place_from_goal_by_case() -> None:
    """The garden is "in" in the dative and "into" in the accusative."""
    place = PLACES["garden"]
    assert {(p.german, p.case, p.english) for p in (*place.where, *place.goal)} == {
        ("in", "dat", ("in",)),
        ("in", "acc", ("into",)),
        ("durch", "acc", ("through",)),
    }
