"""Without running a Python file, find the modules that it imports."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path


def imported_names(path: Path, package: Sequence[str]) -> set[str]:
    """Return the names that a file imports; `from a import b` gives `a` and `a.b`.

    Args:
        path: the file.
        package: the names of the parent packages, which relative imports need.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join((*up, *filter(None, [node.module])))
            found |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return found
