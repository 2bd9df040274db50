"""Put into Korean what the grader says of a submission.

The English phrases stay the keys. A sentence is made of several: a check's text has
fields, and what stands in a field may be a phrase again. So a text can be taken apart
in several ways: into sentences, and each by a template of the catalogue. The reading
that leaves the fewest words English is taken, of two the one of the longer template.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from autograder.translations.code import FIELD
from autograder.translations.markdown import WORD

MOST = 4000  # characters of a text that is looked at
DEEPEST = 6  # phrases within phrases
MOST_WAYS = 24  # to take a text apart by one template
MOST_LEFT = 2  # English words in a field; with more, its sentence stays English
QUOTED = ("{quoted}", "{code}")  # fields that stay as they are
A_NAME = 1  # may be English in a list
A_QUOTED_WORD = 0.01  # of an English one: a quotation ends where it can
ENDS = re.compile(r"(?<=[.?!]) +(?=[A-Z`‘“])")
SPOKEN = re.compile(r"[(\[]*[A-Za-z][a-z'’-]+[,.;:!?)\]]*")
BESIDE = re.compile(r"`[^`]*`|“[^”]*”")


class Reading(NamedTuple):
    """A text in Korean, and how many English words are left in it."""

    korean: str
    left: float


class Phrases:
    """Translate texts that were made from the templates of catalogues."""

    def __init__(self, table: Mapping[str, str]) -> None:
        """Keep translations: English template to Korean template."""
        self.table = table
        self._templates = [
            (key, [_plain(part) for part in FIELD.split(key.strip())])
            for key in table
            if FIELD.search(key) and WORD.search(FIELD.sub("", key))
        ]
        self._templates.sort(key=lambda one: sum(map(len, one[1])), reverse=True)
        self._read = functools.lru_cache(maxsize=8192)(self._reading)

    def translated(self, text: str) -> str:
        """Return a text in Korean; what has no translation stays English."""
        return self._read(text, 0).korean if len(text) <= MOST else text

    def _reading(self, text: str, depth: int) -> Reading:
        """Return the best reading of a text of one sentence or several."""
        bare = text.strip()
        best = self._of_phrase(bare, depth)
        for end in ENDS.finditer(bare) if best.left else ():
            first = self._of_phrase(bare[: end.start()], depth)
            rest = self._read(bare[end.end() :], depth)
            best = _better(
                best,
                Reading(f"{first.korean} {rest.korean}", first.left + rest.left),
            )
        return Reading(text.replace(bare, best.korean) if bare else text, best.left)

    def _of_phrase(self, text: str, depth: int) -> Reading:
        """Return the best reading of a text that one phrase makes up."""
        forms = list(_forms(text))
        for form, end in forms:
            if form in self.table:
                return Reading(self.table[form] + end, 0)
        best = Reading(text, _english_words(text))
        if depth == DEEPEST or not WORD.search(text):
            return best
        for key, literals in self._templates:
            for form, end in forms:
                for values in islice(_ways(literals, form), MOST_WAYS):
                    best = _better(best, self._filled(key, values, end, depth))
            if not best.left:
                return best
        return _better(best, self._listed(text, depth))

    def _listed(self, text: str, depth: int) -> Reading | None:
        """Return the reading of a list: `one and other`."""
        parts = text.split(" and ")
        read = [self._read(part, depth + 1) for part in parts if len(parts) > 1]
        if not read or any(part.left > A_NAME for part in read):
            return None
        return Reading(", ".join(one.korean for one in read), sum(x.left for x in read))

    def _filled(
        self, key: str, values: Sequence[str], end: str, depth: int
    ) -> Reading | None:
        """Put values into a template's translation; None if one stays English."""
        names, read, left = FIELD.findall(key), [], 0.0
        for name, value in zip(names, values, strict=True):
            if name in QUOTED:
                own = Reading(value, len(value.split()) * A_QUOTED_WORD)
            else:
                own = self._read(value, depth + 1)
            if own.left > MOST_LEFT:
                return None
            left += own.left
            read.append(own.korean)
        return Reading(_put_in(names, self.table[key].strip(), read) + end, left)


def _forms(text: str) -> Iterator[tuple[str, str]]:
    """Yield how the catalogue may have a text, and what is to be put behind it."""
    small = text[:1].lower() + text[1:]
    for form in dict.fromkeys((text, small)):
        yield form, ""
        if form.endswith("."):
            yield form[:-1], "."


def _better(one: Reading, other: Reading | None) -> Reading:
    """Return the reading with less English in it, of equal ones the first."""
    return one if other is None or one.left <= other.left else other


def _english_words(text: str) -> int:
    """Count the words of a text that are no code."""
    return sum(map(bool, map(SPOKEN.fullmatch, BESIDE.sub("x", text).split())))


def _ways(literals: Sequence[str], text: str) -> Iterator[tuple[str, ...]]:
    """Yield what stands between the literals, for each way to find them in a text."""
    place = 0
    for literal in literals:  # in their order, or there is no way
        place = text.find(literal, place) + len(literal)
        if place < len(literal):
            return
    if text.startswith(literals[0]) and text.endswith(literals[-1]):
        yield from _values(literals[1:], text[len(literals[0]) :])


def _values(literals: Sequence[str], text: str) -> Iterator[tuple[str, ...]]:
    """Yield the values of the fields before these literals."""
    literal, *others = literals
    if not others:
        if text.endswith(literal):
            yield (text[: len(text) - len(literal)],)
    elif not literal:  # two fields side by side: all belongs to the first
        for values in _values(others, text):
            yield values[0], "", *values[1:]
    else:
        place = text.find(literal)
        while place >= 0:
            for rest in _values(others, text[place + len(literal) :]):
                yield text[:place], *rest
            place = text.find(literal, place + 1)


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


def _put_in(names: Sequence[str], korean: str, values: Sequence[str]) -> str:
    """Put values into a translation, by the names that fields have in the English."""
    waiting: dict[str, list[str]] = {}
    for name, value in zip(names, values, strict=True):
        waiting.setdefault(name, []).append(value)

    def value_of(match: re.Match[str]) -> str:
        known = waiting.get(match[0], [])
        if not known:
            return match[0]
        return known.pop(0) if len(known) > 1 else known[0]

    literal = [_plain(part) for part in FIELD.split(korean)]
    fields = [value_of(match) for match in FIELD.finditer(korean)]
    return "".join(a + b for a, b in zip(literal, [*fields, ""], strict=True))
