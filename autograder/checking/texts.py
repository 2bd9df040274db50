"""Find the strings in a syntax tree that may look up a name or run as code."""

import ast
from collections.abc import Callable, Iterator, Sequence, Set

RUN_TEXT = {"eval", "exec", "compile", "run_cell", "run_line_magic"}
BY_NAME = {"getattr", "attrgetter", "methodcaller", "__getattribute__", "__getattr__"}
TABLES = {"vars", "globals", "locals", "__dict__", "modules"}
MOST_PARTS = 50  # maximum number of parts in a dotted name


def names_and_code(nodes: Sequence[ast.AST]) -> tuple[set[str], list[str]]:
    """Return the names that strings may look up, and the strings that run as code.

    A string in a call such as `getattr` counts as a name. If such a call contains no
    string, every string that could be a name counts.

    Args:
        nodes: syntax nodes, with each node before its children. Each node is visited
            only a few times, even if the nodes are deeply nested.
    """
    texts = _are_texts(nodes)
    code = _inside(nodes, _runs_text, texts)
    names = _inside(nodes, _fetches, texts)
    with_text = _holding(nodes, texts)
    if any(id(node) not in with_text for node in nodes if _fetches(node)):
        names += [text for node in nodes for text in _largest(node, texts)]
    return {name.rpartition(".")[-1] for name in names}, code


def dotted_name(node: ast.AST) -> str | None:
    """Return `a.b.c` for such an expression, or `?.c` if it starts with no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif parts:
        parts.append("?")
    return ".".join(reversed(parts)) or None


def _are_texts(nodes: Sequence[ast.AST]) -> set[int]:
    """Return the ids of the nodes that are strings or sums of strings.

    Children come after their parents in the list. The function therefore reads the list
    backwards, so that it knows the parts of a sum before the sum.
    """
    known: set[int] = set()
    for node in reversed(nodes):
        parts: list[ast.AST] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif isinstance(node, ast.FormattedValue):
            parts = [node.value]
        is_constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
        is_sum = bool(parts) and all(id(part) in known for part in parts)
        if is_constant or is_sum or isinstance(node, ast.JoinedStr):
            known.add(id(node))
    return known


def _holding(nodes: Sequence[ast.AST], texts: Set[int]) -> set[int]:
    """Return the ids of the nodes that contain a string."""
    found: set[int] = set()
    for node in reversed(nodes):
        if any(id(c) in texts or id(c) in found for c in ast.iter_child_nodes(node)):
            found.add(id(node))
    return found


def _inside(
    nodes: Sequence[ast.AST], asked: Callable[[ast.AST], bool], texts: Set[int]
) -> list[str]:
    """Return the strings in the selected nodes."""
    found: list[str] = []
    seen: set[int] = set()
    for node in nodes:
        if id(node) in seen or not asked(node):
            continue
        inside = list(ast.walk(node))
        seen.update(map(id, inside))
        found += [text for part in inside for text in _largest(part, texts)]
    return found


def _largest(node: ast.AST, texts: Set[int]) -> Iterator[str]:
    """Yield the strings in a node that are not part of a larger string."""
    if id(node) in texts:
        return
    for child in ast.iter_child_nodes(node):
        if id(child) in texts:
            yield _text(child, texts)


def _text(node: ast.AST, texts: Set[int]) -> str:
    """Return the string that an expression gives, without its unknown parts."""
    waiting, parts = [node], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            parts.append(part.value)
        elif id(part) in texts:
            waiting += reversed(list(ast.iter_child_nodes(part)))
    return "".join(parts)


def _runs_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) in RUN_TEXT


def _fetches(node: ast.AST) -> bool:
    """Return whether a node looks up something by a string, except on `self`."""
    if isinstance(node, ast.Call):
        owner = (dotted_name(node.args[0]) or "") if node.args else ""
        is_own = owner.partition(".")[0] == "self"
        return _last(node.func) in BY_NAME and not is_own
    if isinstance(node, ast.Subscript):
        table = node.value.func if isinstance(node.value, ast.Call) else node.value
        return _last(table) in TABLES
    return False


def _last(node: ast.AST) -> str:
    return (dotted_name(node) or "").rpartition(".")[-1]
