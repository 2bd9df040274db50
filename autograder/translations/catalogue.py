"""Read and write the translation catalogues, which are `.po` files.

If an English sentence has changed since it was translated, the translation is stale.
The catalogue marks it as `fuzzy`, and a comment above it contains the old English
sentence. No page displays a stale translation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.pofile import normalize, read_po

LANGUAGE = "ko"
BEFORE = "English before: "
HEADER = (
    'msgid ""\nmsgstr ""\n'
    f'"Language: {LANGUAGE}\\n"\n'
    '"MIME-Version: 1.0\\n"\n'
    '"Content-Type: text/plain; charset=utf-8\\n"\n'
    '"Content-Transfer-Encoding: 8bit\\n"\n\n'
)


@dataclass(frozen=True)
class Message:
    """Hold an English text to translate, and a comment on where it occurs."""

    text: str
    comment: str = ""


def read(path: Path) -> Catalog:
    """Return a catalogue, or an empty one if the file does not exist."""
    if not path.is_file():
        return Catalog(locale=LANGUAGE)
    with path.open("rb") as file:
        return read_po(file, locale=LANGUAGE, ignore_obsolete=True)


def entries(catalog: Catalog) -> list[Entry]:
    """Return the entries of a catalogue without its header."""
    return [entry for entry in catalog if entry.id]


def translations(path: Path) -> dict[str, str]:
    """Return the translations that are not stale, as English to Korean."""
    return {
        str(entry.id): str(entry.string)
        for entry in entries(read(path))
        if entry.string and not entry.fuzzy
    }


def updated(catalog: Catalog, messages: Iterable[Message]) -> str:
    """Return the text of a catalogue with exactly these messages, in this order.

    Unchanged sentences keep their translations. If a sentence has changed a little, its
    translation becomes stale. If a sentence no longer exists, its translation is
    removed.
    """
    template = Catalog(locale=LANGUAGE)
    for one in messages:
        template.add(one.text, auto_comments=[one.comment] if one.comment else [])
    made_from = {entry.id: _made_from(entry) for entry in entries(catalog)}
    catalog.update(template)
    for entry in entries(catalog):
        if not entry.fuzzy:
            entry.user_comments = []
        elif entry.id not in made_from:
            entry.user_comments = [BEFORE + made_from[entry.previous_id[0]]]
    return written(catalog)


def _made_from(entry: Entry) -> str:
    """Return the English sentence from which a translation was made, as one line."""
    noted = [one for one in entry.user_comments if one.startswith(BEFORE)]
    if entry.fuzzy and noted:
        return noted[0].removeprefix(BEFORE)
    return " ".join(str(entry.id).split())


def written(catalog: Catalog) -> str:
    """Return the text of a catalogue without dates and locations.

    Each sentence is on a single line.
    """
    return HEADER + "\n\n".join(map(_entry, entries(catalog))) + "\n"


def _entry(entry: Entry) -> str:
    lines = [f"# {comment}" for comment in entry.user_comments]
    lines += [f"#. {comment}" for comment in entry.auto_comments]
    lines += ["#, fuzzy"] * entry.fuzzy
    lines.append(f"msgid {normalize(str(entry.id), width=0)}")
    lines.append(f"msgstr {normalize(str(entry.string or ''), width=0)}")
    return "\n".join(lines)
