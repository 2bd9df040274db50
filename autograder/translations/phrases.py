"""Find the phrases of which the grader's messages are made: the keys of catalogues."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from autograder.translations.code import DOCUMENTED, FIELD, template
from autograder.translations.markdown import WORD

CODE = re.compile(r"^lambda |\\[dwsS(]|\(\?|^\w+ \| \w+$|^<\w+ \w+=")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
SAYING = ("said", "told")
TOLD = re.compile(rf"\btold\(\s*({STRING.pattern}(?:\s*[+~]\s*{STRING.pattern})*)")


def phrases_of(source: str) -> Iterator[str]:
    """Yield the texts of a module that may be shown: strings of two words and more."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, (*DOCUMENTED, ast.Module)) and ast.get_docstring(node):
            skipped.add(id(node.body[0].value))  # type: ignore[attr-defined]
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
            skipped.update(id(one.format_spec) for one in _fields_of(node))
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in skipped
    ]
    for node in sorted(found, key=lambda one: (one.lineno, one.col_offset)):
        text = template(node)
        if text and _is_said(text):
            yield text


def said_in(source: str) -> Iterator[str]:
    """Yield the texts that a module hands to `said` or `told`, to be translated."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _name_of(node.func) in SAYING:
            text = template(node.args[0])
            if text:
                yield text


def _name_of(function: ast.expr) -> str:
    """Return the last part of a function's name."""
    return getattr(function, "id", getattr(function, "attr", ""))


def told_in(script: str) -> Iterator[str]:
    """Yield the texts that a script or a template hands to `told`."""
    for match in TOLD.finditer(script):
        yield "".join(map(json.loads, STRING.findall(match[1])))


def _fields_of(node: ast.JoinedStr) -> list[ast.FormattedValue]:
    return [one for one in node.values if isinstance(one, ast.FormattedValue)]


def _is_said(text: str) -> bool:
    bare = FIELD.sub("x", text).strip()
    return bool(WORD.search(bare)) and " " in bare and not CODE.search(bare)
