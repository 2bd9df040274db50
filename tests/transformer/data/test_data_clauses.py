"""Whole clauses in both languages, compared with sentences written by hand."""

import pytest

from transformer.data import SentencePair, detokenize
from transformer.data.grammar import align
from transformer.data.language import english_clauses, german_clauses
from transformer.data.language.adjectives import ADJECTIVE_BY_NAME
from transformer.data.language.adverbials import FREQUENCIES, TIMES
from transformer.data.language.clauses import MODALS, Clause
from transformer.data.language.nouns import NOUN_BY_NAME
from transformer.data.language.phrases import (
    BARE,
    DU,
    ER,
    ICH,
    MY,
    NO,
    SIE_PLURAL,
    SIE_SINGULAR,
    THE,
    WIR,
    A,
    Determiner,
    NounPhrase,
)
from transformer.data.language.places import PLACES
from transformer.data.language.sentence import Sentence
from transformer.data.language.verbs import VERBS, Verb

MODAL = {modal.german: modal for modal in MODALS}
TODAY = TIMES[0]
IN_THE_MORNING = TIMES[4]


def noun(
    name: str, determiner: Determiner = THE, adjective: str = "", plural: bool = False
) -> NounPhrase:
    """Return a noun phrase by English names."""
    found = ADJECTIVE_BY_NAME[adjective] if adjective else None
    return NounPhrase(NOUN_BY_NAME[name], determiner, plural, found)


def verb(name: str, frame: str = "") -> Verb:
    """Return the verb with an English name."""
    return next(v for v in VERBS if v.name == name and frame in ("", v.frame))


def statement(clause: Clause) -> SentencePair:
    """Return the main clause."""
    return align(
        Sentence(
            german_clauses.verb_second(clause), english_clauses.statement(clause), ()
        )
    )


def asked(clause: Clause) -> SentencePair:
    """Return the question."""
    return align(
        Sentence(
            german_clauses.verb_first(clause), english_clauses.question(clause), ()
        )
    )


CALL = Clause(noun("woman"), verb("call"), object=noun("man", THE, "old"))
PICK_UP = Clause(SIE_SINGULAR, verb("pick up"), object=noun("suitcase"))
PICK_HIM_UP = Clause(SIE_PLURAL, verb("pick up"), object=ER)
BUY = Clause(noun("man"), verb("buy"), object=noun("hat", NO, "new"), negation="kein")
BUY_BREAD = Clause(noun("man"), verb("buy"), object=noun("bread", NO), negation="kein")
EXPLAIN = Clause(ICH, verb("explain"), recipient=noun("child"), object=noun("task"))
GIVE = Clause(ER, verb("give"), recipient=DU, object=noun("ball", A, "red"))
HELP = Clause(WIR, verb("help"), recipient=noun("uncle", MY), negation="nicht")
TIRED = Clause(noun("dog"), predicate=ADJECTIVE_BY_NAME["tired"], negation="nicht")
AT_HOME = Clause(
    noun("key"), adjunct=(PLACES["table"].where[1], noun("table", plural=True))
)
STATEMENTS = [
    (CALL, "die frau ruft den alten mann an | the woman calls the old man"),
    (PICK_UP, "sie holt den koffer ab | she picks up the suitcase"),
    (PICK_HIM_UP, "sie holen ihn ab | they pick him up"),
    (BUY, "der mann kauft keinen neuen hut | the man does not buy a new hat"),
    (BUY_BREAD, "der mann kauft kein brot | the man does not buy any bread"),
    (EXPLAIN, "ich erkläre dem kind die aufgabe | i explain the task to the child"),
    (GIVE, "er gibt dir einen roten ball | he gives you a red ball"),
    (HELP, "wir helfen meinem onkel nicht | we do not help my uncle"),
    (TIRED, "der hund ist nicht müde | the dog is not tired"),
    (AT_HOME, "der schlüssel ist unter den tischen | the key is under the tables"),
]
QUESTIONS = [
    (CALL, "ruft die frau den alten mann an | does the woman call the old man"),
    (PICK_HIM_UP, "holen sie ihn ab | do they pick him up"),
    (BUY_BREAD, "kauft der mann kein brot | does the man not buy any bread"),
    (TIRED, "ist der hund nicht müde | is the dog not tired"),
]


def both(pair: SentencePair) -> str:
    """Return both sides in one line."""
    return f"{detokenize(pair.src)} | {detokenize(pair.tgt)}"


@pytest.mark.parametrize(("clause", "expected"), STATEMENTS)
def test_statement(clause: Clause, expected: str) -> None:
    """The cases test case, agreement, separable verbs, do-support, a and any."""
    assert both(statement(clause)) == expected


@pytest.mark.parametrize(("clause", "expected"), QUESTIONS)
def test_question(clause: Clause, expected: str) -> None:
    """The finite verb comes first in German, and the auxiliary in English."""
    assert both(asked(clause)) == expected


@pytest.mark.parametrize(
    ("modal", "negation", "expected", "question"),
    [
        ("können", "", "kann schlafen | can sleep", "can he sleep"),
        ("können", "nicht", "kann nicht schlafen | cannot sleep", "can he not sleep"),
        ("müssen", "", "muss schlafen | must sleep", "must he sleep"),
        (
            "müssen",
            "nicht",
            "muss nicht schlafen | does not have to sleep",
            "does he not have to sleep",
        ),
        ("wollen", "", "will schlafen | wants to sleep", "does he want to sleep"),
        (
            "wollen",
            "nicht",
            "will nicht schlafen | does not want to sleep",
            "does he not want to sleep",
        ),
        (
            "sollen",
            "nicht",
            "soll nicht schlafen | should not sleep",
            "should he not sleep",
        ),
        ("dürfen", "", "darf schlafen | may sleep", "may he sleep"),
        ("dürfen", "nicht", "darf nicht schlafen | must not sleep", "may he not sleep"),
        (
            "möchten",
            "",
            "möchte schlafen | would like to sleep",
            "would he like to sleep",
        ),
    ],
)
def test_modal_verbs(modal: str, negation: str, expected: str, question: str) -> None:
    """The infinitive ends the clause, and the negation may change the English modal."""
    clause = Clause(ER, verb("sleep"), modal=MODAL[modal], negation=negation)
    german, english = expected.split(" | ")
    assert both(statement(clause)) == f"er {german} | he {english}"
    assert detokenize(asked(clause).tgt) == question


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (CALL, "die frau den alten mann anruft"),
        (Clause(ER, verb("sleep")), "er schläft"),
        (TIRED, "der hund nicht müde ist"),
        (
            Clause(SIE_SINGULAR, verb("get up"), modal=MODAL["müssen"]),
            "sie aufstehen muss",
        ),
    ],
)
def test_subordinate_clause_ends_in_its_verb(clause: Clause, expected: str) -> None:
    """In this clause, a separable verb is one word."""
    words = [word for word, _ in german_clauses.verb_last(clause)]
    assert " ".join(words) == expected


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (
            Clause(ICH, verb("read"), object=noun("book"), time=TODAY),
            "ich lese heute das buch | i read the book today",
        ),
        (
            Clause(ICH, verb("see"), object=ER, time=IN_THE_MORNING),
            "ich sehe ihn am morgen | i see him in the morning",
        ),
        (
            Clause(ER, verb("eat"), object=noun("apple", BARE, "sweet", plural=True)),
            "er isst süße äpfel | he eats sweet apples",
        ),
        (
            Clause(DU, verb("laugh"), frequency=FREQUENCIES[4]),
            "du lachst nie | you never laugh",
        ),
    ],
)
def test_adverbs(clause: Clause, expected: str) -> None:
    """Time comes after the German verb, and last in English."""
    assert both(statement(clause)) == expected


def links(pair: SentencePair) -> set[str]:
    """Return the alignment in words."""
    return {f"{pair.src[i]}-{pair.tgt[j]}" for i, j in pair.alignment}


def test_alignment_of_a_separable_verb() -> None:
    """Both parts of "ruft … an" are "calls", and "ab" of "holt … ab" is "up"."""
    assert {"ruft-calls", "an-calls"} <= links(statement(CALL))
    assert {"holt-picks", "ab-up"} <= links(statement(PICK_UP))
    assert "ab-picks" not in links(statement(PICK_UP))


def test_alignment_of_negation_and_do() -> None:
    """The word "keinen" is "not" and "a", and "kauft" is "does" and "buy"."""
    found = links(statement(BUY))
    assert {"keinen-not", "keinen-a", "kauft-does", "kauft-buy"} <= found
    assert {"nicht-not", "helfen-do", "helfen-help"} <= links(statement(HELP))


def test_alignment_of_modals() -> None:
    """The word "cannot" is two German words, and "to" belongs to the infinitive."""
    cannot = Clause(ER, verb("sleep"), modal=MODAL["können"], negation="nicht")
    assert {"kann-cannot", "nicht-cannot"} <= links(statement(cannot))
    wants = Clause(ER, verb("sleep"), modal=MODAL["wollen"])
    assert links(statement(wants)) == {
        "er-he",
        "will-wants",
        "schlafen-to",
        "schlafen-sleep",
    }


def test_alignment_of_compounds_and_contractions() -> None:
    """One German word corresponds to two English ones."""
    school_bag = Clause(ICH, verb("find"), object=noun("school_bag"))
    assert {"schultasche-school", "schultasche-bag"} <= links(statement(school_bag))
    in_park = Clause(ICH, verb("sit"), adjunct=(PLACES["park"].where[0], noun("park")))
    assert {"im-in", "im-the", "park-park"} <= links(statement(in_park))
