"""Make mutants of an answer from its syntax tree.

Each mutant has one change: another operator, comparison or constant, a negated
condition, or a missing call. Only code between the solution markers is changed.
"""

import ast
import copy
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

from autograder.assemble.markers import BEGIN, END

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.MatMult: ast.Mult,
}
COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SIGNS: dict[type, type] = {ast.USub: ast.UAdd, ast.UAdd: ast.USub}


@dataclass(frozen=True)
class Mutant:
    """Hold a cell with one mechanical change.

    Attributes:
        change: the source text before and after the change.
        source: the whole cell with the change.
    """

    change: str
    source: str


def make_mutants(cell: str) -> Iterator[Mutant]:
    """Yield every mutant of the answers in a cell that contains solution markers."""
    return mutants_by(mechanical_changes, cell, solution_lines(cell))


def mutants_by(
    changes: Callable[[ast.AST], Iterator[ast.AST]], cell: str, lines: Container[int]
) -> Iterator[Mutant]:
    """Yield the cell once for each change that `changes` makes to a node in `lines`."""
    tree = ast.parse(cell)
    for position, node in enumerate(ast.walk(tree)):
        if getattr(node, "lineno", None) not in lines:
            continue
        for changed in changes(node):
            mutated = copy.deepcopy(tree)
            old = nth_node(mutated, position)
            new = Replace(old, changed).visit(mutated)
            source = ast.unparse(ast.fix_missing_locations(new))
            before, after = ast.unparse(node), ast.unparse(changed)
            if before != after:
                yield Mutant(f"{before} -> {after}", source)


def solution_lines(cell: str) -> set[int]:
    """Return the numbers of the lines between the markers, counted from 1."""
    lines, inside, found = cell.splitlines(), False, set()
    for number, line in enumerate(lines, start=1):
        if line.strip() == END:
            inside = False
        if inside:
            found.add(number)
        if line.strip() == BEGIN:
            inside = True
    return found


def nth_node(tree: ast.AST, position: int) -> ast.AST:
    """Return the node at `position` in the order of `ast.walk`."""
    return next(node for i, node in enumerate(ast.walk(tree)) if i == position)


def mechanical_changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the mutants of one node."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield replaced(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield replaced(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp):
        yield replaced(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp):
        if type(node.op) in SIGNS and not isinstance(node.operand, ast.Constant):
            yield replaced(node, op=SIGNS[type(node.op)]())
        elif isinstance(node.op, (ast.Invert, ast.Not)):
            yield node.operand
        elif isinstance(node.operand, ast.Constant):
            yield from changed_constants(node)
    elif isinstance(node, ast.Constant):
        yield from changed_constants(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from dropped_calls(node, node.func.value)
    elif isinstance(node, ast.IfExp):
        yield replaced(node, body=node.orelse, orelse=node.body)


def changed_constants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield other numbers for a number, and the opposite for True or False."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(value * 2 if value else 1.0)


def dropped_calls(node: ast.Call, base: ast.expr) -> Iterator[ast.AST]:
    """Yield `x` for `x.method(...)`, or the first argument if x is a module."""
    is_module = isinstance(base, ast.Name) and base.id in ("torch", "F", "math", "nn")
    if is_module and node.args:
        yield node.args[0]
    elif not is_module and not (isinstance(base, ast.Name) and base.id == "self"):
        yield base


def replaced(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node with the given fields replaced."""
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


class Replace(ast.NodeTransformer):
    """Replace one node with another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        """Replace the object `old` with `new`."""
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return `new` in place of `old`, and all other nodes unchanged."""
        return self.new if node is self.old else self.generic_visit(node)
