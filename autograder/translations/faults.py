"""Report errors in a translation: parts that were lost or added."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from babel.messages.catalog import Message as Entry

PARTS = {
    "role": re.compile(r"\{([a-z:-]+)\}`([^`]*)`"),
    "code": re.compile(r"`[^`]+`"),
    "formula": re.compile(r"(?<!\\)\$\$?[^$]+\$\$?"),
    "link": re.compile(r"\]\(([^)]*)\)"),
    "mark": re.compile(r"@\w+@"),
    "placeholder": re.compile(r"(?<!\{)\{[^{}`]*\}(?!\})"),
}
OWN_WORDS = re.compile(r".*<(.*)>$", re.DOTALL)  # the target of a role, after its text
HANGUL = "가-힣"
# In CommonMark, ** between a punctuation mark and a letter does not end bold text.
BOLD = re.compile(
    rf"(?:(?<!\w)\*\*(?=\S)|\*\*(?=\w))(.+?)(?<=\S)\*\*(?=[{HANGUL}\w])", re.DOTALL
)
SLANTED = re.compile(
    r"(?:(?<![\w*])\*(?=[^\s*])|(?<!\*)\*(?=\w))([^*]+?)"
    rf"(?<=[^\s*])\*(?!\*)(?=[{HANGUL}\w])",
    re.DOTALL,
)
ENDS_IN_A_MARK = re.compile(rf"[^\w\s{HANGUL}]$")


def pieces(text: str, with_fields: bool) -> dict[str, Counter[str]]:
    """Count the parts of a text that a translation must neither lose nor add.

    For a role, the target is counted, but not the text that the page displays.
    """
    found = {}
    for name, pattern in PARTS.items():
        if name == "placeholder" and not with_fields:
            continue
        items = [match.groups() or (match[0],) for match in pattern.finditer(text)]
        if name == "role":
            items = [(role, OWN_WORDS.sub(r"\1", body)) for role, body in items]
        found[name] = Counter(" ".join(" ".join(item).split()) for item in items)
        if name != "link":
            text = pattern.sub(" ", text)
    return found


def faults(english: str, korean: str, with_fields: bool = False) -> Iterator[str]:
    """Yield the errors in a translation as sentences for the translator.

    Args:
        english: the sentence.
        korean: its translation. An empty translation, "", is not an error.
        with_fields: whether `{name}` is a placeholder.
    """
    if not korean:
        return
    before, after = (pieces(text, with_fields) for text in (english, korean))
    for name in before:
        for what, difference in (
            ("lost", before[name] - after[name]),
            ("new", after[name] - before[name]),
        ):
            for item in difference.elements():
                yield f"{name} {what}: {item}"
    for pattern in (BOLD, SLANTED):
        for match in pattern.finditer(PARTS["formula"].sub("x", korean)):
            if ENDS_IN_A_MARK.search(match[1]):
                yield (
                    f"the asterisks of {match[0]} would show: a letter follows them, "
                    "and a mark stands before them; move the mark or the word out"
                )
    if korean.count("**") % 2 != english.count("**") % 2:
        yield "an odd number of **"
    if english.endswith("\n") != korean.endswith("\n"):
        yield "the line ends differently"
    if english.startswith("#") != korean.startswith("#"):
        yield "the marks of a heading differ"


def faults_of(entry: Entry, with_fields: bool) -> list[str]:
    """Return the errors in a catalogue's entry, or none if the entry is stale."""
    if entry.fuzzy:
        return []
    return list(faults(str(entry.id), str(entry.string or ""), with_fields))
