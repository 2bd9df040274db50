"""Replace every word of the messages, to find text that cannot be translated.

Every word of a message becomes a Korean word, except for the parts that must not
change. If a page still contains English text, no catalogue contains this text.
"""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path

from autograder.translations.catalogue import entries, read, written
from autograder.translations.faults import PARTS
from autograder.translations.report import catalogues_in
from autograder.translations.sources import has_fields

FIRST, LETTERS = ord("가"), 11172  # of Hangul syllables
LATIN = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ'’-]*")
SHOWN = re.compile(r"(\{(?:term|doc|ref)\})`(?:[^`<]*<([^`>]+)>|([^`<]+))`")
HELD = ("role", "code", "formula", "link", "mark")
TAGS = re.compile(r"<[^>]+>|&\w+;")


def word_for(english: str) -> str:
    """Return a Korean word for an English word, different for each English word."""
    number = zlib.crc32(english.encode())
    letters = (number % LETTERS, number // LETTERS % LETTERS)
    return "".join(chr(FIRST + letter) for letter in letters)


def pseudolocalized(english: str, with_fields: bool) -> str:
    """Return a message in which each word is replaced."""
    english = SHOWN.sub(_shown, english)
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\0{len(held) - 1}\0"

    names = (*HELD, "placeholder") if with_fields else HELD
    for pattern in (*(PARTS[name] for name in names), TAGS):
        english = pattern.sub(hold, english)
    text = LATIN.sub(lambda match: word_for(match[0]), english)
    while "\0" in text:
        text = re.sub("\0(\\d+)\0", lambda match: held[int(match[1])], text)
    return text


def _shown(role: re.Match[str]) -> str:
    """Give a role its own replaced text."""
    target = role[2] or role[3]
    return f"{role[1]}`{word_for(target)} <{target}>`"


def pseudolocalize(locale: Path, target: Path) -> None:
    """Write the catalogues of a language to another folder, with all words replaced."""
    shutil.copytree(locale, target)
    for name, path in catalogues_in(target):
        catalog = read(path)
        for entry in entries(catalog):
            if not (name.endswith("sphinx.po") and entry.string):
                entry.flags.discard("fuzzy")
                entry.string = pseudolocalized(str(entry.id), has_fields(name))
        path.write_text(written(catalog), encoding="utf-8")
