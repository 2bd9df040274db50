"""Find what a kit imports only when it is asked for, as few submissions do.

Each library that the pre-warmed parent holds makes all of its children dearer.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.notebook_syntax import parse_cell

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def late_imports(folder: Path, cells: Iterable[str]) -> set[str]:
    """Return the modules that a kit imports in functions, and nothing imports at once.

    Args:
        folder: the released folder.
        cells: its notebook's, which will all be run.
    """
    late, at_once = set[str](), set[str]()
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        first = set(_imports(_outside_functions(tree)))
        at_once |= first
        late |= set(_imports(ast.walk(tree))) - first
    for tree in filter(None, map(parse_cell, cells)):
        at_once |= set(_imports(ast.walk(tree)))
    return late - at_once


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, FUNCTIONS):
            yield from _outside_functions(node)


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
