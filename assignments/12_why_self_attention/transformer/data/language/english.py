"""The forms of English words: third person, articles, the verb "be"."""

_VOWELS = "aeiou"
BE = ("am", "are", "is", "are")  # i, you, he/she/it, plural


def third_person(verb: str) -> str:
    """Return the form of "he": goes, carries, washes, reads."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def indefinite_article(next_word: str) -> str:
    """Return "a" or "an", by the next word's first letter.

    It suffices for the lexicon: no word there begins with a silent h or with "uni".
    """
    return "an" if next_word[0] in _VOWELS else "a"
