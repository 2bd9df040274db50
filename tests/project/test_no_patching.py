"""No code of the autograder changes another package's module or class at run time."""

import ast
import textwrap
from collections.abc import Iterator

import pytest
from python_files import PACKAGES, place, python_files, tree_of

OURS = frozenset(PACKAGES)
SETTERS = {"setattr", "delattr"}
# It runs only in the student's process, whose streams and PyTorch it sets up.
STUDENTS = PACKAGES["autograder"] / "sandbox" / "student_side"


def foreign_names(tree: ast.AST) -> set[str]:
    """Return the names in a file that refer to a module or class of another package.

    A loop variable over several such objects counts, too: `for module in MODULES`.
    """
    names = {name for node in ast.walk(tree) for name in _imported(node)}
    while more := {n for node in ast.walk(tree) for n in _renamed(node, names)} - names:
        names |= more
    return names


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] not in OURS:
                yield alias.asname or alias.name.split(".")[0]
    elif isinstance(node, ast.ImportFrom) and _is_foreign(node):
        yield from (alias.asname or alias.name for alias in node.names)


def _is_foreign(node: ast.ImportFrom) -> bool:
    return not node.level and (node.module or "").split(".")[0] not in OURS


def _renamed(node: ast.AST, foreign: set[str]) -> Iterator[str]:
    """Yield names that the file assigns to one or several foreign names."""
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        targets, value = [node.target], node.iter
    else:
        return
    several = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    if several and all(_root(one) in foreign for one in several):
        yield from (one.id for one in targets if isinstance(one, ast.Name))


def _root(node: ast.AST) -> str | None:
    """Return the first name of a dotted name, or None for any other expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def patches(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield each place that sets or deletes an attribute of a foreign name."""
    foreign = foreign_names(tree)
    for node in ast.walk(tree):
        target = None
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            target = node
        elif isinstance(node, ast.Call) and _root(node.func) in SETTERS:
            target = node.args[0]
        if target is not None and _root(target) in foreign:
            yield node


@pytest.mark.integration
def test_nothing_of_another_package_is_changed() -> None:
    found = [
        place(path, node.lineno)
        for path in python_files(PACKAGES["autograder"])
        if not path.is_relative_to(STUDENTS)
        for node in patches(tree_of(path))
    ]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize(
    "code",
    [
        "import nbgrader.api\nnbgrader.api.create_engine = None",
        "import nbgrader.api as api\ndel api.create_engine",
        "import warnings\ndef f():\n    warnings.showwarning = print",
        "from nbgrader.api import Gradebook\nGradebook.close = lambda self: None",
        "import torch\ntorch.backends.x += 1",
        """
        import nbgrader.converters.autograde
        from nbgrader.preprocessors import saveautogrades
        STEPS = (nbgrader.converters.autograde, saveautogrades)
        for module in STEPS:
            setattr(module, "Gradebook", None)
        """,
    ],
)
def test_a_change_is_seen(code: str) -> None:
    assert len([*patches(ast.parse(textwrap.dedent(code)))]) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import logging\nlogger = logging.getLogger('x')\nlogger.propagate = False",
        "from autograder import gradebook\ngradebook.AT_ONCE = 2",
        "from nbgrader.api import Grade\ngrade = Grade()\ngrade.auto_score = 1",
        "import os\nos.environ['PATH'] = '/bin'",
    ],
)
def test_own_objects_may_be_changed(code: str) -> None:
    assert not [*patches(ast.parse(code))]
