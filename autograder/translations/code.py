"""Extract the text in Python code that readers see, and insert translations.

This text consists of the messages of `assert` and `raise`, printed text, the values of
a dict that messages use, and docstrings. A message contains the fields of its f-string
as they are in the source: `{tuple(scores.shape)}`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import indent

from autograder.translations.markdown import WORD

FIELD = re.compile(r"(?<!\{)\{[^{}]*\}")
QUOTES = ('"', "'", '"""', "'''")
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Words:
    """Hold a string in a program that readers see.

    Attributes:
        node: the node of the string in the syntax tree.
        text: the message.
        kind: "message" or "docstring of NAME".
    """

    node: ast.expr
    text: str
    kind: str = "message"


def template(node: ast.expr) -> str | None:
    """Return the text of a string or, with its fields, of an f-string, or None."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    return "".join(_part(part) for part in node.values)


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value).replace("{", "{{").replace("}", "}}")
    assert isinstance(node, ast.FormattedValue)
    kind = "" if node.conversion == -1 else "!" + chr(node.conversion)
    spec = f":{template(node.format_spec)}" if node.format_spec else ""
    return f"{{{ast.unparse(node.value)}{kind}{spec}}}"


def fields(text: str) -> list[str]:
    """Return the fields of a template in sorted order."""
    return sorted(FIELD.findall(text))


def words_of(source: str) -> Iterator[Words]:
    """Yield the strings in a cell that students read."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (found := _docstring(node)):
            yield found
        for head in _heads(node):
            text = template(head)
            if text and WORD.search(text) and " " in text.strip():
                yield Words(head, text)


def _heads(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assert) and node.msg:
        yield from _branches(node.msg)
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield from node.exc.args
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
        for argument in node.args:
            yield from _branches(argument)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from value.elts if isinstance(value, ast.Tuple) else [value]


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression, or both alternatives of `a if condition else b`."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    else:
        yield node


def _docstring(node: Documented) -> Words | None:
    first = node.body[0] if node.body else None
    text = ast.get_docstring(node)
    if text is None or not isinstance(first, ast.Expr):
        return None
    return Words(first.value, text, f"docstring of {node.name}")


def translated(
    source: str,
    translate: Callable[[str], str | None],
    wanted: Callable[[str], bool] = lambda kind: True,
) -> str:
    """Return a cell in which text with a known translation is translated.

    A translation is not inserted if its fields differ, or if Python cannot express it.

    Args:
        source: the cell.
        translate: returns the Korean translation of an English text, or None.
        wanted: returns whether text of a kind, such as "message", is translated.
    """
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    raw = source.encode()
    found = sorted(words_of(source), key=_place, reverse=True)
    for one in found:
        new = translate(one.text) if wanted(one.kind) else None
        written = None if new is None else _written(one, new)
        if written is None:
            continue
        node = one.node
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        raw = raw[:begin] + written.encode() + raw[end:]
    return raw.decode()


def _place(one: Words) -> tuple[int, int]:
    return one.node.lineno, one.node.col_offset


def _written(one: Words, new: str) -> str | None:
    """Return a translated string as Python source, or None if that is impossible."""
    if one.kind != "message":
        return _docstring_written(one, new)
    is_template = isinstance(one.node, ast.JoinedStr)
    if is_template and fields(new) != fields(one.text):
        return None
    for quote in QUOTES:
        body = new.replace("\\", "\\\\").replace("\n", "\\n")
        text = f"{'f' * is_template}{quote}{body}{quote}"
        try:
            node = ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
        if template(node) == new:
            return text
    return None


def _docstring_written(one: Words, new: str) -> str | None:
    margin = " " * one.node.col_offset
    body = new.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    first, newline, rest = body.partition("\n")
    rest = indent(rest, margin)
    text = f'"""{first}{newline}{rest}'
    text += f'\n{margin}"""' if newline else '"""'
    value = ast.literal_eval(text)
    return text if inspect.cleandoc(value) == inspect.cleandoc(new) else None
