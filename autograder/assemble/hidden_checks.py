"""Read which exercises a file of hidden checks checks, without running it."""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.assemble.problems import Complaint


def checked_exercises(path: Path) -> frozenset[str]:
    """Collect the first arguments of the `@check("exercise", …)` decorators.

    Raises:
        Complaint: if the file is no Python or a decorator names no exercise.
    """
    if not path.is_file():
        return frozenset()
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        what = f"{path.name}:{error.lineno}: {error.msg}"
        raise Complaint(what, "mend the file of hidden checks") from None
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names |= {
                _exercise(path, decorator)
                for decorator in node.decorator_list
                if isinstance(decorator, ast.Call) and _is_check(decorator.func)
            }
    return frozenset(names)


def _is_check(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else function
    return name == "check" or (isinstance(name, ast.Name) and name.id == "check")


def _exercise(path: Path, decorator: ast.Call) -> str:
    values = [
        *decorator.args[:1],
        *(word.value for word in decorator.keywords if word.arg == "exercise"),
    ]
    if values and isinstance(values[0], ast.Constant):
        return str(values[0].value)
    raise Complaint(
        f"{path.name}:{decorator.lineno}: @check does not name its exercise",
        'write the name as a string, first: @check("causal-mask", …)',
    )
