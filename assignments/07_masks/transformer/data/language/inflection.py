"""Inflect words: German articles, endings and verbs, and English verbs and articles."""

from collections.abc import Mapping

from .adjectives import Adjective
from .nouns import PLURAL, Noun

Endings = Mapping[str, tuple[str, ...]]  # one row per case, with the columns below

CASES = ("nom", "acc", "dat")

# Columns: masculine, feminine, neuter, plural.
ARTICLE = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
}
# Endings of dieser and jeder, the same as those of the definite article.
DER_ENDINGS = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
}
# Endings of ein, kein and mein, which are empty in some forms.
EIN_ENDINGS = {
    "nom": ("", "e", "", "e"),
    "acc": ("en", "e", "", "e"),
    "dat": ("em", "er", "em", "en"),
}
# Endings of adjectives after der-words, after ein-words, and without an article.
WEAK_ENDINGS = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
}
MIXED_ENDINGS = {
    "nom": ("er", "e", "es", "en"),
    "acc": ("en", "e", "es", "en"),
    "dat": ("en", "en", "en", "en"),
}
STRONG_ENDINGS = DER_ENDINGS

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}

# The forms for ich, for du, for er, and for both wir and sie.
IRREGULAR = {
    "sein": ("bin", "bist", "ist", "sind"),
    "wissen": ("weiß", "weißt", "weiß", "wissen"),
    "können": ("kann", "kannst", "kann", "können"),
    "müssen": ("muss", "musst", "muss", "müssen"),
    "wollen": ("will", "willst", "will", "wollen"),
    "sollen": ("soll", "sollst", "soll", "sollen"),
    "dürfen": ("darf", "darfst", "darf", "dürfen"),
    "möchten": ("möchte", "möchtest", "möchte", "möchten"),
}
THIRD_SINGULAR, ANY_PLURAL = 2, 3  # columns of the rows of IRREGULAR
BE = ("am", "are", "is", "are")  # i, you, he/she/it, plural
_VOWELS = "aeiou"  # of English words


def inflect_noun(noun: Noun, case: str, plural: bool) -> str:
    """Return a form of a noun, with an -n in a dative plural that can take one."""
    if not plural:
        return noun.german if case == "nom" else noun.oblique
    form = noun.german_plural
    return form + "n" if case == "dat" and form[-1] not in "ns" else form


def inflect_adjective(
    adjective: Adjective, endings: Endings, case: str, column: int
) -> str:
    """Return an adjective's form before a noun: its stem with an ending."""
    return adjective.stem + endings[case][column]


def column_of(noun: Noun, plural: bool) -> int:
    """Return a noun's column in a table of endings: its gender, or the plural."""
    return PLURAL if plural else noun.gender


def conjugate(infinitive: str, changed_stem: str = "") -> tuple[str, str, str, str]:
    """Return the present tense for ich, du, er, and the plural (wir, sie).

    Args:
        infinitive: the infinitive without a separable prefix.
        changed_stem: the stem of the second and third person, if it differs from the
            infinitive's ("lies" for "lesen").
    """
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive]
    stem = infinitive.removesuffix("n").removesuffix("e")
    first = stem[:-2] + "le" if infinitive.endswith("eln") else stem + "e"
    short = changed_stem or stem
    link = "e" if not changed_stem and _needs_link(stem) else ""
    second = "t" if short[-1] in "sßzx" else link + "st"
    third = short + link + "t"
    return first, short + second, third, infinitive


def third_person(verb: str) -> str:
    """Return the form after "he": goes, carries, washes, reads."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def indefinite_article(next_word: str) -> str:
    """Return "a" or "an", depending on the first letter of the next word.

    The first letter is enough, because no word of the lexicon begins with a silent h or
    with "uni".
    """
    return "an" if next_word[0] in _VOWELS else "a"


def _needs_link(stem: str) -> bool:
    """Return whether the endings -st and -t need an e before them, as in er wartet."""
    if stem[-1] in "td":
        return True
    return stem[-1] in "mn" and (stem[-2] not in "aeiouäöülrmnh" or stem[-3:] == "chn")
