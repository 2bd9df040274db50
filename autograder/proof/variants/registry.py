"""Collect the variants of a unit: functions and classes marked right or wrong."""

import ast
import functools
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Defined = TypeVar("Defined", bound=Callable[..., Any])


@dataclass(frozen=True)
class Variant:
    """One way to write an answer.

    Attributes:
        kind: "right" or "wrong".
        description: what is done differently, as students would say it.
        replaces: the name it stands for: a function, a class or `Class.method`.
        source: its text without the marker.
        imports: the imports of the file it stands in, but for our own.
        diagnosed: whether a failing check must name the mistake.
        names: A part of the phrase that names it; the description by default.
    """

    kind: str
    description: str
    replaces: str
    source: str
    imports: str = ""
    diagnosed: bool = False
    names: str = ""


_collected: dict[str, list[Variant]] = {}


def right(
    description: str, replaces: str | None = None
) -> Callable[[Defined], Defined]:
    """Mark a function or class as another right way to write an answer."""
    return _marker("right", description, replaces, False, None)


def wrong(
    description: str,
    diagnosed: bool = False,
    replaces: str | None = None,
    names: str | None = None,
) -> Callable[[Defined], Defined]:
    """Mark a function or class as a wrong answer that must lose points.

    Args:
        description: what is wrong with it.
        diagnosed: A failing check must name the mistake.
        replaces: `Class.method`, where a method alone is replaced.
        names: the part of the mistake's phrase to look for; by default `description`.
    """
    return _marker("wrong", description, replaces, diagnosed, names)


def _marker(
    kind: str,
    description: str,
    replaces: str | None,
    diagnosed: bool,
    names: str | None,
) -> Callable[[Defined], Defined]:
    def mark(defined: Defined) -> Defined:
        variant = Variant(
            kind,
            description,
            replaces or defined.__name__,
            _source_without_marker(defined),
            _imports_of(defined),
            diagnosed,
            names or description,
        )
        _collected.setdefault(defined.__module__, []).append(variant)
        return defined

    return mark


def _source_without_marker(defined: Any) -> str:
    source = textwrap.dedent(_source_of(defined))
    node = ast.parse(source).body[0]
    decorators = getattr(node, "decorator_list", [])
    own = [d for d in decorators if not _is_marker(d)]
    first = min([node.lineno, *(d.lineno for d in own)])
    return "".join(source.splitlines(keepends=True)[first - 1 :]).rstrip() + "\n"


def _source_of(defined: Any) -> str:
    """Return the text of a definition; of classes with one name, the right one.

    `inspect.getsource` looks a class up by its name and finds the first of them.
    """
    if not isinstance(defined, type):
        return inspect.getsource(defined)
    text = inspect.getsource(sys.modules[defined.__module__])
    methods = filter(inspect.isfunction, vars(defined).values())
    line = next(method.__code__.co_firstlineno for method in methods)
    classes = [n for n in _parsed(text).body if isinstance(n, ast.ClassDef)]
    node = next(n for n in classes if n.lineno <= line <= n.end_lineno)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return "".join(text.splitlines(keepends=True)[first - 1 : node.end_lineno])


@functools.lru_cache(maxsize=4)
def _parsed(text: str) -> ast.Module:
    """Parse a file of variants, once for all of its variants."""
    return ast.parse(text)


def _imports_of(defined: Any) -> str:
    tree = _parsed(inspect.getsource(sys.modules[defined.__module__]))
    imports = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    lines = [ast.unparse(node) for node in imports]
    return "\n".join(line for line in lines if "autograder" not in line)


def _is_marker(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Name) and called.id in ("right", "wrong")


def load_variants(path: Path) -> list[Variant]:
    """Read the variants of a unit's file, in their order; none if there is no file."""
    if not path.is_file():
        return []
    name = f"variants_{path.stem}"
    _collected.pop(name, None)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return _collected.pop(name, [])
