"""Extract the paragraphs of Markdown, and insert their translations.

A message is a paragraph, a heading, an item of a list or a row of a table, written as a
single line. Code, comments, paragraphs with only a formula, and lines without words are
not messages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# The start of a line that does not belong to the message: marks of headings, lists and
# quotations.
FRONT = re.compile(
    r"(\s*(?:#{1,6} |[-*+] (?:\[[ x]\] )?|\d+[.)] |> ?)*)(.*)", re.DOTALL
)
STARTS_ANEW = re.compile(r"\s*(?:#{1,6} |[-*+] |\d+[.)] |\||> )")
TABLE_RULE = re.compile(r"\s*\|?[\s|:-]+\|?\s*")
WORD = re.compile(r"[A-Za-z]{2}")
NO_WORDS = re.compile(
    r"<!--.*?-->|\$\$.*?\$\$|(?<!\\)\$[^$]+\$|`[^`]*`|\]\([^)]*\)|<[^>]+>|\{\{.*?\}\}|@\w+@",
    re.DOTALL,
)


# Translators of Markdown skip HTML, so the text of HTML pictures is extracted
# separately. The text alternative of a drawing is an option of a directive.
PICTURE = re.compile(r"^<figure\b.*?^</figure>", re.DOTALL | re.MULTILINE)
OF_DRAWING = re.compile(r"^```\{drawing\}.*\n(?::.*\n)*?:alt: (.*)$", re.MULTILINE)
OF_PICTURE = re.compile(r'(<figcaption>|\balt=")(.*?)(</figcaption>|")', re.DOTALL)


def picture_words(text: str) -> Iterator[str]:
    """Yield the text of HTML pictures, and the text alternatives of drawings."""
    yield from OF_DRAWING.findall(text)
    for picture in PICTURE.finditer(text):
        for match in OF_PICTURE.finditer(picture[0]):
            yield " ".join(match[2].split())


def with_picture_words(text: str, translate: Callable[[str], str]) -> str:
    """Return a text in which the words of HTML pictures are translated."""

    def put(match: re.Match[str]) -> str:
        old = " ".join(match[2].split())
        new = translate(old)
        return match[0] if new == old else f"{match[1]}{html.escape(new)}{match[3]}"

    return PICTURE.sub(lambda picture: OF_PICTURE.sub(put, picture[0]), text)


def has_words(text: str) -> bool:
    """Return whether a text contains more than code, formulas and links."""
    return bool(WORD.search(NO_WORDS.sub(" ", text)))


def blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, each with whether it is a message."""
    held: list[str] = []
    fence = ""

    def flush() -> Iterator[tuple[str, bool]]:
        if held:
            piece = "".join(held)
            held.clear()
            yield piece, has_words(piece) and not piece.lstrip().startswith("<!--")

    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence or mark:
            yield from flush()
            yield line, False
            if fence and line.strip() == fence:
                fence = ""
            elif mark and not fence:
                fence = mark[1]
        elif not line.strip() or TABLE_RULE.fullmatch(line):
            yield from flush()
            yield line, False
        else:
            if STARTS_ANEW.match(line) or (held and held[0].lstrip()[:1] in "#|"):
                yield from flush()
            held.append(line)
    yield from flush()


def parts(piece: str) -> tuple[str, str, str]:
    """Split a part into its start, the message as a single line, and its end."""
    match = FRONT.fullmatch(piece)
    front, body = (match[1], match[2]) if match else ("", piece)
    end = body[len(body.rstrip()) :]
    return front, " ".join(body.split()), end


def messages(text: str) -> Iterator[str]:
    """Yield the messages of a Markdown text."""
    for piece, is_message in blocks(text):
        if is_message:
            yield parts(piece)[1]


def translated(text: str, translate: Callable[[str], str | None]) -> str:
    """Return the text in which every message with a known translation is translated."""
    made = []
    for piece, is_message in blocks(text):
        if is_message:
            front, message, end = parts(piece)
            found = translate(message)
            if found is not None:
                piece = front + found + end
        made.append(piece)
    return "".join(made)
