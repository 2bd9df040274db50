"""The README of the masters explains each tool that the hidden checks use."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.checking.expect import check

REPOSITORY = Path(__file__).resolve().parents[3]
README = REPOSITORY / "solutions" / "notebooks" / "README.md"
CHECKS = sorted((REPOSITORY / "autograder" / "checks").glob("test_*.py"))
EXPLAINED = {
    word
    for code in re.findall(r"`([^`\n]+)`", README.read_text("utf-8"))
    for word in re.findall(r"\w+", code)
}


def tools_in(tree: ast.AST) -> Iterator[str]:
    """Yield the imported tools of a file of hidden checks, and its ways to draw."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if (node.module or "").startswith("autograder.checking."):
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "draw":
            yield node.attr


def test_each_tool_is_explained() -> None:
    used = {name for path in CHECKS for name in tools_in(ast.parse(path.read_text()))}
    assert {"expect_close", "fixed"} <= used
    assert used - EXPLAINED == set()


def test_each_option_of_a_check_is_explained() -> None:
    options = set(inspect.signature(check).parameters) - {"exercise"}
    assert options - EXPLAINED == set()
    assert {"mistakes", "draw", "student"} <= EXPLAINED
