"""Define the markers around the code that students write, and find this code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.assemble.problems import Complaint

SOLUTION_BEGINS, SOLUTION_ENDS = "BEGIN SOLUTION", "END SOLUTION"
BEGIN, END = f"### {SOLUTION_BEGINS}", f"### {SOLUTION_ENDS}"  # markers in code
TEXT_BEGIN, TEXT_END = f"<!-- {SOLUTION_BEGINS} -->", f"<!-- {SOLUTION_ENDS} -->"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class MarkedBody:
    """Hold the lines between the markers in one function or method."""

    qualname: str
    lines: tuple[str, ...]


def marked_bodies(path: Path) -> tuple[MarkedBody, ...]:
    """Return the marked bodies of a module in the order of the file.

    Raises:
        Complaint: if a marker has no counterpart, or encloses nothing, or is outside of
            a function.
    """
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text and END not in text:
        return ()
    lines = text.splitlines()
    functions = list(_functions(ast.parse(text), ""))
    return tuple(
        MarkedBody(_owner(path, functions, begin), tuple(lines[begin : end - 1]))
        for begin, end in _pairs(path, lines)
    )


def without_markers(text: str) -> str:
    """Remove the lines that contain a marker."""
    kept = [
        line
        for line in text.splitlines(keepends=True)
        if line.strip() not in (BEGIN, END)
    ]
    return "".join(kept)


def _pairs(path: Path, lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the line numbers of each BEGIN marker and its END marker."""
    begin = None
    for number, line in enumerate(lines, start=1):
        if line.strip() == BEGIN and begin is None:
            begin = number
        elif line.strip() == END and begin is not None and number > begin + 1:
            yield begin, number
            begin = None
        elif line.strip() in (BEGIN, END):
            raise Complaint(
                f"{path.name}:{number}: '{line.strip()}' has no partner, or is empty",
                f"write {BEGIN}, the answer, and {END}, each on its own line",
            )
    if begin is not None:
        raise Complaint(f"{path.name}:{begin}: '{BEGIN}' is not ended", f"add {END}")


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, Function):
            yield f"{prefix}{child.name}", child


def _owner(path: Path, functions: list[tuple[str, Function]], line: int) -> str:
    for qualname, node in functions:
        if node.lineno < line <= (node.end_lineno or node.lineno):
            return qualname
    raise Complaint(
        f"{path.name}:{line}: a marker outside of functions and methods",
        "put the markers around the body that students write",
    )
