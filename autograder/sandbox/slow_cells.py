"""Find slow cells of the student that need not run again for every exercise.

Each exercise has its own process, in which all cells run. A student's training run of
15 seconds would use up the time limit, although the answers do not need its result.
"""

import ast
import re
import symtable
from collections.abc import Iterator, Sequence

from autograder.notebook_syntax import parse_cell

SLOW = 2.0  # seconds
HIDDEN_WAYS = frozenset({"exec", "eval", "globals", "locals", "vars", "setattr"})


def is_needed_again(number: int, cells: Sequence[str]) -> bool:
    """Return whether another cell may use something that this cell defines or changes.

    A cell that cannot be parsed counts as needed, because it may do anything.
    """
    tree = parse_cell(cells[number])
    if tree is None or HIDDEN_WAYS & _words(cells[number]):
        return True
    others = [source for n, source in enumerate(cells) if n != number]
    try:
        elsewhere = {name for source in others for name in _imported_by(source)}
        made = _made_by(tree) - (_imported_by(cells[number]) & elsewhere)
        return any(made & _used_by(source) for source in others)
    except (RecursionError, MemoryError, SyntaxError, ValueError):
        return True


def _words(source: str) -> set[str]:
    return set(re.findall(r"\w+", source))


def _made_by(tree: ast.Module) -> set[str]:
    """Return the names that a cell assigns or whose objects it changes."""
    bound = {
        symbol.get_name()
        for table in _tables(tree)
        for symbol in table.get_symbols()
        if _is_bound(symbol)
        and (table.get_type() == "module" or symbol.is_declared_global())
    }
    parts = (n for n in ast.walk(tree) if isinstance(n, (ast.Attribute, ast.Subscript)))
    stored = (part for part in parts if isinstance(part.ctx, (ast.Store, ast.Del)))
    return bound | {root for part in stored if (root := _root(part))}


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _used_by(source: str) -> set[str]:
    """Return the names from the rest of the notebook that a cell uses."""
    tree = parse_cell(source)
    if tree is None:
        return _words(source)
    return {
        symbol.get_name()
        for table in _tables(tree)
        for symbol in table.get_symbols()
        if symbol.is_referenced()
        and (symbol.is_global() or table.get_type() == "module")
        and not (table.get_type() == "module" and _is_bound(symbol))
    }


def _imported_by(source: str) -> set[str]:
    tree = parse_cell(source)
    top = next(_tables(tree)) if tree else None
    return (
        {s.get_name() for s in top.get_symbols() if s.is_imported()} if top else set()
    )


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported()


def _tables(tree: ast.Module) -> Iterator[symtable.SymbolTable]:
    """Yield the symbol tables of a cell and of every function and class in it."""
    waiting = [symtable.symtable(ast.unparse(tree), "cell", "exec")]
    while waiting:
        table = waiting.pop()
        yield table
        waiting += table.get_children()
