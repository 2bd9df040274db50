"""Collect the variants of a unit: changed answers, and whole functions and classes."""

import ast
import functools
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Defined = TypeVar("Defined", bound=Callable[..., Any])


@dataclass(frozen=True)
class Variant:
    """Hold one right or wrong way to write an answer.

    Attributes:
        kind: "right" or "wrong".
        description: the difference from the answer, in words that students would use.
        replaces: the function, class or `Class.method` that the variant replaces.
        source: the source of the variant without the marker.
        imports: the code before the variant: the imports of the file, except imports of
            the course's own modules, and the decorator of a fault.
        diagnosed: whether a failing check must name the mistake.
        names: a part of the phrase that names the mistake, by default the description.
    """

    kind: str
    description: str
    replaces: str
    source: str
    imports: str = ""
    diagnosed: bool = False
    names: str = ""


class UnusableFile(ValueError):
    """Report the variants of a file that cannot be read."""


_collected: list[Variant] = []  # from the file that is currently read


def collect(variant: Variant) -> None:
    """Add a variant to the collection for the current file."""
    _collected.append(variant)


def right(
    description: str, replaces: str | None = None
) -> Callable[[Defined], Defined]:
    """Mark a function or class as an alternative right answer."""
    return _marker(Variant("right", description, replaces or "", ""))


def wrong(
    description: str,
    replaces: str | None = None,
    names: str | None = None,
    diagnosed: bool = True,
) -> Callable[[Defined], Defined]:
    """Mark a function or class as a wrong answer that must lose points.

    Args:
        description: a description of the error.
        replaces: `Class.method` if only a method is replaced.
        names: the part of the mistake's phrase that the message must contain; by
            default `description`.
        diagnosed: whether a failing check must name the mistake.
    """
    return _marker(
        Variant(
            "wrong",
            description,
            replaces or "",
            "",
            diagnosed=diagnosed,
            names=names or "",
        )
    )


def _marker(marked: Variant) -> Callable[[Defined], Defined]:
    def mark(defined: Defined) -> Defined:
        collect(
            replace(
                marked,
                replaces=marked.replaces or defined.__name__,
                source=source_without_marker(defined),
                names=marked.names or marked.description,
            )
        )
        return defined

    return mark


def source_without_marker(defined: Any) -> str:
    """Return the source of a function or class in a file of variants."""
    source = textwrap.dedent(_source_of(defined))
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    own = [d for d in node.decorator_list if not _is_marker(d)]
    first = min([node.lineno, *(d.lineno for d in own)])
    return "".join(source.splitlines(keepends=True)[first - 1 :]).rstrip() + "\n"


def _source_of(defined: Any) -> str:
    """Return the source of a definition, even if several classes have its name.

    This function is needed because `inspect.getsource` finds a class by its name and
    returns the first class with that name.
    """
    if not isinstance(defined, type):
        return inspect.getsource(defined)
    text = inspect.getsource(sys.modules[defined.__module__])
    methods = filter(inspect.isfunction, vars(defined).values())
    line = next(method.__code__.co_firstlineno for method in methods)
    classes = [n for n in _parsed(text).body if isinstance(n, ast.ClassDef)]
    node = next(n for n in classes if n.lineno <= line <= (n.end_lineno or line))
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return "".join(text.splitlines(keepends=True)[first - 1 : node.end_lineno])


@functools.lru_cache(maxsize=4)
def _parsed(text: str) -> ast.Module:
    """Parse a file of variants once for all of its variants."""
    return ast.parse(text)


def _is_marker(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = getattr(called, "attr", getattr(called, "id", None))
    return name in ("right", "wrong")


def load_variants(path: Path) -> list[Variant]:
    """Read a unit's file of variants if it exists; generated faults come last.

    Raises:
        UnusableFile: if a variant changes text that its answer does not contain, or if
            it changes nothing.
    """
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    _refuse_variants_without_change(text, path.name)
    _collected.clear()
    _execute(path)
    imports = _imports_of(text)
    _collected.sort(key=lambda variant: bool(variant.imports))  # faults come last
    return [replace(v, imports=f"{imports}\n{v.imports}".strip()) for v in _collected]


def _refuse_variants_without_change(text: str, name: str) -> None:
    """Refuse `answer.wrong("…")` without changes and without a decorated function."""
    for statement in _parsed(text).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and _is_marker(call) and len(call.args) < 2:
            said = ast.unparse(call)
            raise UnusableFile(f"{name}, line {call.lineno}: {said} changes nothing")


def _execute(path: Path) -> ModuleType:
    name = f"variants_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _imports_of(text: str) -> str:
    imports = [
        node
        for node in _parsed(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    lines = [ast.unparse(node) for node in imports]
    return "\n".join(line for line in lines if "autograder" not in line)
