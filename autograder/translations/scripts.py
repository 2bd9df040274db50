"""Extract the text in JavaScript that readers see, and insert translations.

A message is a string, or several strings joined with `+`. If it is a template, its
fields are written in the form `{file.name}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from autograder.translations.code import fields

STRING = r'"(?:[^"\\\n]|\\.)*"'
TEMPLATE = r"`(?:[^`\\]|\\.)*`"
LITERAL = re.compile(rf"{TEMPLATE}|{STRING}(?:\s*\+\s*{STRING})*")
COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
PUT_IN = re.compile(r"\$\{([^{}]*)\}")
WORDS = re.compile(r"[A-Za-z]{2,} |[A-Z][a-z]+| [a-z]{2,}")
ALONE = ("on", "read", "predicts", "positions")  # single words that are messages
# Names that the browser or a style sheet uses, paths of drawings, and programs.
NO_WORDS = re.compile(
    r"live-|viewBox|[a-z]+[A-Z]|DOMContent|M\{|python |[A-Za-z0-9+/]{30}"
)


def literals(script: str) -> Iterator[tuple[int, int, str]]:
    """Yield each message of a script with its start and end."""
    bare = COMMENT.sub(lambda match: " " * len(match[0]), script)
    for match in LITERAL.finditer(bare):
        text = _text(match[0])
        own = re.sub(r"\{[^{}]*\}", "X", text)
        if text in ALONE or (WORDS.search(own) and not NO_WORDS.match(text)):
            yield match.start(), match.end(), text


def messages(script: str) -> Iterator[str]:
    """Yield the messages of a script."""
    for _, _, text in literals(script):
        yield text


def translated(script: str, translate: Callable[[str], str]) -> str:
    """Return a script with translated messages.

    A message is not translated if the fields of its translation differ.
    """
    for begin, end, text in reversed(list(literals(script))):
        new = translate(text)
        if new != text and fields(new) == fields(text):
            written = _written(new, is_template=script[begin] == "`")
            script = script[:begin] + written + script[end:]
    return script


def _text(literal: str) -> str:
    if literal.startswith("`"):
        return PUT_IN.sub(r"{\1}", literal[1:-1])
    return "".join(json.loads(part) for part in re.findall(STRING, literal))


def _written(text: str, is_template: bool) -> str:
    if not is_template:
        return json.dumps(text, ensure_ascii=False)
    body = text.replace("\\", "\\\\").replace("`", "\\`")
    return "`" + re.sub(r"\{([^{}]*)\}", r"${\1}", body) + "`"
