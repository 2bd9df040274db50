"""Separate names from the words that people and platforms add to them.

`Copy of 04_attention - Ada Lovelace (1) final.ipynb` contains one name. Digits that may
belong to a name are kept, because `Student 007` and `Student 008` are two people.
"""

from __future__ import annotations

import re
import unicodedata

COPY_OF = re.compile(r"(?:copy[ _]of|kopie[ _]von|copie[ _]de|copia[ _]de)[ _]+", re.I)
COPIED = re.compile(r"(?:[._]ipynb)?의[ _]사본$")  # "Copy of", in Korean
COUNTED = re.compile(
    r"(?:[ _]?\((?P<brackets>\d{1,3})\)"
    r"|(?P<word>[ _-]+(?:copy|kopie)(?:[ _](?P<nth>\d+))?))$",
    re.I,
)
# nbgitpuller gives a student's file such a name when the instructor's file changes.
PULLED = re.compile(r"__20\d{12}$")
DASHED = re.compile(r"-(\d{1,2})$")  # Canvas's number for a repeated upload
ENDINGS = re.compile(
    r"(\.(?:ipynb|zip|txt|json|pdf|html?|rar|7z|gz|tar|docx?|odt|md|py|png|jpe?g))+$",
    re.I,
)
FILLING = """
abgabe answer answers assignment assignments attempt backup colab completed copy done
drive download draft edited exercise export file files final finished hand handin
homework hw in ipynb last lab late latest new notebook notebooks of old projects
solution solutions solved submission submissions submit submitted the unit untitled
update updated upload uploads v version week work zip
"""
NOISE = frozenset(FILLING.split())
NUMBERED = re.compile(r"v\d+[a-z]?|\S*\d{8}t\d{6}z\S*|\d{4}-\d\d-\d\d")
NUMBER_OF_A_STUDENT = re.compile(r"\d{5,}")
EAST_ASIAN = ("HANGUL SYLLABLE", "CJK UNIFIED", "HIRAGANA", "KATAKANA")
ACCENT = 200  # combining class of accents; vowel signs have lower classes


def stem_of(name: str, dashed: bool = False) -> tuple[str, int]:
    """Return a file's name without suffixes and copy marks, and the copy's number.

    Args:
        name: the name of a file or a folder.
        dashed: whether `-1` also marks a copy, as it does on Canvas.
    """
    stem = ENDINGS.sub("", unicodedata.normalize("NFC", name.strip()))
    version = 0
    while True:
        if found := COPY_OF.match(stem):
            stem = stem[found.end() :]
        elif found := COPIED.search(stem):
            stem = stem[: found.start()]
        elif found := COUNTED.search(stem):
            version = max(version, int(found["brackets"] or found["nth"] or 1))
            stem = stem[: found.start()]
        elif found := PULLED.search(stem):
            stem = stem[: found.start()]
        elif dashed and (found := DASHED.search(stem)):
            version = max(version, int(found[1]))
            stem = stem[: found.start()]
        else:
            return stem.strip(), version


def without_filling(text: str) -> str:
    """Remove filler words, except capitalised ones that may be part of a name."""
    words = text.split()
    pairs = list(zip(["", *words], words, strict=False))
    kept = [word for before, word in pairs if not _is_noise(word, before)]
    if sum(not word.isdigit() for word in kept) == 1:
        kept = [w for w in words if w in kept or (w[0].isupper() and w.isalpha())]
    return " ".join(kept)


def _is_noise(word: str, before: str) -> bool:
    """Return whether a word is filler, such as `final`, or the 2 in `homework 2`."""
    bare, last = (one.casefold().strip(".,;()[]'\"") for one in (word, before))
    if bare in NOISE or NUMBERED.fullmatch(bare):
        return True
    if bare.isdigit():
        return last in NOISE
    return not any(letter.isalnum() for letter in bare)


def may_be_a_name(text: str) -> bool:
    """Return whether a text may name a student: it has letters or is a long number."""
    letter = any(one.isalpha() for one in text)
    return letter or bool(NUMBER_OF_A_STUDENT.fullmatch(text))


def is_filling(name: str) -> bool:
    """Return whether a text is only filler: `final` in `final_04_11_attention`."""
    return not without_filling(spaced(name))


def without_units(text: str, slugs: tuple[str, ...]) -> str:
    """Remove the names of units from a text."""
    for slug in slugs:
        words = r"[\s_-]+".join(map(re.escape, slug.split("_")))
        text = re.sub(words, " ", text, flags=re.I)
    return spaced(text)


def spaced(text: str) -> str:
    """Return a text in which spaces replace all other separators between words."""
    return re.sub(r"\s+-\s+|[_\s]+|^-|-$", " ", text).strip(" -")


def letters(text: str) -> str:
    """Return only the letters and digits of a name, in lower case without accents.

    Vowel signs are kept, because many Asian names differ only in them.
    """
    plain = unicodedata.normalize("NFKD", fold_id(text))
    return "".join(one for one in plain if one.isalnum() or _is_part(one))


def fold_id(text: str) -> str:
    """Return an id, an address or a login in a form for comparisons that ignore case.

    Turkish has two letters I, and a capital letter does not show which one is meant, so
    both become `i`.
    """
    plain = unicodedata.normalize("NFKC", text.strip()).replace("\u0130", "i")
    return plain.casefold().replace("\u0131", "i")


def family_name_comes_first(name: str) -> bool:
    """Return whether a name is written in Hangul, Han or Kana: 김민준, 王伟."""
    plain = unicodedata.normalize("NFC", "".join(name.split()))
    return bool(plain) and all(
        unicodedata.name(one, "").startswith(EAST_ASIAN) for one in plain
    )


def full_name(first: str, last: str) -> str:
    """Return a name in its usual order: Ada Lovelace, but 김민준."""
    if first and last and family_name_comes_first(f"{last}{first}"):
        return f"{last}{first}"
    return " ".join(filter(None, (first, last)))


def _is_part(one: str) -> bool:
    """Return whether a mark, such as a vowel sign, is part of a word, not an accent."""
    is_mark = unicodedata.category(one) in ("Mn", "Mc")
    return is_mark and unicodedata.combining(one) < ACCENT


def folder_name(text: str) -> str:
    """Return a safe folder name such as `jane-smith`, or "" if nothing is left."""
    plain = unicodedata.normalize("NFC", text).casefold()
    kept = (
        one if one.isalnum() or one in "._" or _is_part(one) else " " for one in plain
    )
    return "-".join("".join(kept).split()).strip("._-")[:60].strip("._-")
