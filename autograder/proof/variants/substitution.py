"""Replace an answer in the cells of a notebook with the source of a variant."""

import ast
import textwrap

from autograder.notebook_syntax import parse_cell
from autograder.proof.variants.registry import Variant

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class UnknownAnswer(ValueError):
    """Report that no cell defines the answer that a variant replaces."""


def substitute(cells: list[str], variant: Variant) -> list[str]:
    """Return the cells with the answer replaced by `variant`.

    Args:
        cells: sources of code cells.
        variant: the new answer. The imports of its file are inserted before it.

    Raises:
        UnknownAnswer: if no cell defines the answer.
    """
    for number, cell in enumerate(cells):
        node = _find(cell, variant.replaces.split("."))
        if node is None:
            continue
        changed = variant.imports + "\n\n\n" + _exchange(cell, node, variant.source)
        return [*cells[:number], changed.lstrip(), *cells[number + 1 :]]
    raise UnknownAnswer(f"no cell of the notebook defines {variant.replaces}")


def _find(cell: str, path: list[str]) -> Definition | None:
    body = getattr(parse_cell(cell), "body", [])
    node = None
    for name in path:
        defined = (n for n in body if isinstance(n, Definition))
        node = next((n for n in defined if n.name == name), None)
        body = node.body if node else []
    return node


def _exchange(cell: str, node: Definition, source: str) -> str:
    lines = cell.splitlines()
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    indented = textwrap.indent(source.rstrip(), " " * node.col_offset)
    new = [*lines[: first - 1], *indented.splitlines(), *lines[node.end_lineno :]]
    return "\n".join(new) + "\n"
