"""Walk a syntax tree and determine which names are local at each node."""

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Place:
    """Describe the surroundings of a syntax node.

    Attributes:
        bound: the local names of the functions that contain it.
        in_class: whether it is in a class, whose methods have a `self`.
    """

    bound: frozenset[str] = frozenset()
    in_class: bool = False


def walk(
    node: ast.AST, place: Place, closed: Set[str]
) -> Iterator[tuple[ast.AST, Place]]:
    """Walk a tree, but skip annotations and docstrings.

    Each node is yielded before its children.

    Args:
        node: the root, which is yielded first.
        place: the place of the root.
        closed: names of attributes; the object before such an attribute is skipped.
    """
    waiting = [(node, place)]
    while waiting:
        node, place = waiting.pop()
        yield node, place
        if isinstance(node, ast.Attribute) and node.attr in closed:
            continue
        is_comprehension = isinstance(node, COMPREHENSIONS)
        parts = _of_comprehension if is_comprehension else _parts
        waiting += reversed(list(parts(node, place)))


def _parts(node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    within = _inside(node, place)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        there = within if field == "body" else place
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(child):
                yield child, there


def _of_comprehension(node: Any, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    for generator in node.generators:
        # The iterable can use only the targets before it.
        yield generator.iter, place
        targets, _ = _bound_in([generator.target])
        place = replace(place, bound=place.bound | targets)
    conditions = [part for one in node.generators for part in one.ifs]
    for child in (*conditions, *ast.iter_child_nodes(node)):
        if not isinstance(child, ast.comprehension):
            yield child, place


def _inside(node: ast.AST, place: Place) -> Place:
    """Return the surroundings of the nodes in the body of a node."""
    if isinstance(node, ast.ClassDef):
        return replace(place, in_class=True)
    if isinstance(node, FUNCTIONS):
        body = node.body if isinstance(node.body, list) else [node.body]
        arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        own, elsewhere = _bound_in(body)
        bound = (place.bound - elsewhere) | arguments | (own - elsewhere)
        any_self = isinstance(node, ast.Lambda) and "self" in arguments
        return Place(frozenset(bound), place.in_class and not any_self)
    return place


def _bound_in(body: Sequence[ast.AST]) -> tuple[set[str], set[str]]:
    """Return the names that a function's body binds and those that it declares global.

    Names that an inner function or comprehension binds do not belong to the outer
    function.
    """
    own: set[str] = set()
    elsewhere: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            own.add(node.id)
        elif isinstance(node, ast.Global):
            elsewhere.update(node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif not isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            waiting += ast.iter_child_nodes(node)
    return own, elsewhere


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
