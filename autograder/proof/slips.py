"""Make small errors in an answer, such as a missing `return` or `self.`."""

import ast
from collections.abc import Iterator

from autograder.proof.mutants import replaced


def slips(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the result of each small error in a node of an answer."""
    if isinstance(node, ast.Return) and node.value is not None:
        yield ast.Expr(node.value)
        yield ast.parse('raise NotImplementedError("Write it.")').body[0]
        if isinstance(node.value, ast.Tuple):
            yield ast.Return(node.value.elts[0])
        else:
            yield ast.Return(ast.Tuple([node.value, node.value], ast.Load()))
    elif isinstance(node, ast.Expr) and ast.unparse(node) == "super().__init__()":
        yield ast.Pass()
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        yield ast.Name(node.attr, node.ctx)
    elif isinstance(node, ast.FunctionDef) and node.args.args[:1]:
        first, *others = node.args.args
        if first.arg == "self":
            yield replaced(node, args=replaced(node.args, args=others))
