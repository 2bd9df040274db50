"""Define a variant's changes to an answer: swap, drop, insert or another body."""

import ast
import re
import textwrap
from collections.abc import Callable

Change = Callable[[str], str]


class UnfitChange(ValueError):
    """Report that the text to change does not occur exactly once in an answer."""


def swap(old: str, new: str, every: bool = False) -> Change:
    """Replace `old` with `new`.

    Both may have several lines with any common indentation. It is replaced by the
    indentation of the line in the answer.

    Args:
        old: text that occurs in the answer exactly once, as whole words.
        new: the new text.
        every: whether to change every occurrence of `old`.
    """
    old, new = _unindented(old), _unindented(new)

    def change(source: str) -> str:
        places = _places(source, old)
        if not places or (len(places) > 1 and not every):
            raise UnfitChange(f"{old!r} stands there {len(places)} times, not once")
        for start, end in reversed(places):
            text = _indented(new, _indentation(source, start))
            source = source[:start] + text + source[end:]
        return source

    return change


def drop(old: str) -> Change:
    """Remove `old`, which must occur exactly once in the answer."""
    without = swap(old, "")

    def change(source: str) -> str:
        lines = without(source).splitlines()
        return "\n".join(line for line in lines if line.strip()) + "\n"

    return change


def insert(new: str, before: str) -> Change:
    """Insert lines before the line that begins with `before`."""
    return swap(before, f"{_unindented(new)}\n{_unindented(before)}")


def body(text: str) -> Change:
    """Replace everything after the answer's name and arguments with `text`."""

    def change(source: str) -> str:
        (definition,) = ast.parse(source).body
        assert isinstance(definition, ast.FunctionDef)
        head = source.splitlines()[: definition.body[0].lineno - 1]
        return "\n".join([*head, textwrap.indent(_unindented(text), "    ")]) + "\n"

    return change


def _unindented(text: str) -> str:
    return textwrap.dedent(text).strip("\n").rstrip(" ")


def _indented(text: str, indentation: str) -> str:
    return text.replace("\n", f"\n{indentation}")


def _indentation(source: str, place: int) -> str:
    line = source[source.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip())]


def _places(source: str, old: str) -> list[tuple[int, int]]:
    """Return the positions at which `old` occurs in `source` as whole words."""
    first = old.partition("\n")[0]
    places = []
    for match in re.finditer(_whole_words(first), source):
        text = _indented(old, _indentation(source, match.start()))
        if re.match(_whole_words(text), source[match.start() :]):
            places.append((match.start(), match.start() + len(text)))
    return places


def _whole_words(text: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w$", text) else ""
    return before + re.escape(text) + after
