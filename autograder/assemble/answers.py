"""Read the answer to an exercise from the package, as source with markers."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from autograder.assemble.markers import BEGIN, END, marked_bodies
from autograder.assemble.problems import Complaint
from autograder.course import Course


@dataclass(frozen=True)
class Answer:
    """Hold an answer: its module, its file and the marked bodies students write."""

    module: str
    name: str
    file: Path
    asked: tuple[str, ...]


def answer_source(answers: Sequence[Answer]) -> str:
    """Return the source of the answers, with each function and class only once.

    Raises:
        Complaint: if a class has a marked method that no answer names.
    """
    asked = {(one.module, name) for one in answers for name in one.asked}
    parts: dict[tuple[str, str], str] = {}
    for one in answers:
        for body in marked_bodies(one.file):
            if body.qualname.startswith(f"{one.name}."):
                _refuse_unasked(one, body.qualname, asked)
        if (one.module, one.name) not in parts:
            parts[one.module, one.name] = _source(one)
    return "\n\n\n".join(parts.values())


def find_answer(course: Course, path: str) -> Answer:
    """Find `transformer.module.function`, `….Class` or `….Class.method`.

    Raises:
        Complaint: if there is no such module or object, or it has no markers.
    """
    module, file, names = _split(course, path)
    defined = _definitions(file)
    qualname = ".".join(names)
    if qualname not in defined:
        near = difflib.get_close_matches(qualname, defined, n=3)
        raise Complaint(
            f"the answer '{path}' is unknown: {module} defines no {qualname or 'that'}",
            f"did you mean {', '.join(near)}?" if near else "correct `:answer:`",
        )
    marked = [body.qualname for body in marked_bodies(file)]
    asked = [
        name for name in marked if name == qualname or name.startswith(f"{qualname}.")
    ]
    if not asked:
        raise Complaint(
            f"the answer '{path}' has no markers",
            f"put {BEGIN} and {END} around what students write",
        )
    return Answer(module, names[0], file, tuple(asked))


def _split(course: Course, path: str) -> tuple[str, Path, list[str]]:
    """Split a dotted path into a module, the module's file and the names in it."""
    package, *parts = path.split(".")
    for length in range(len(parts), 0, -1):
        base = course.package_dir.joinpath(*parts[:length])
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if package == course.package and file.is_file():
                module = ".".join((package, *parts[:length]))
                return module, file, parts[length:]
    raise Complaint(
        f"the answer '{path}' is unknown: there is no such module",
        f"write {course.package}.MODULE.OBJECT with a module of {course.package_dir}",
    )


def _definitions(file: Path) -> list[str]:
    """List the functions, classes and methods that a module defines."""
    names = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            names += [f"{node.name}.{method.name}" for method in methods]
    return names


def _source(answer: Answer) -> str:
    module = importlib.import_module(answer.module)
    if Path(inspect.getfile(module)).resolve() != answer.file.resolve():
        raise Complaint(
            f"{answer.module} is imported from {inspect.getfile(module)}",
            f"install this course (`pip install -e .`): expected {answer.file}",
        )
    return dedent(inspect.getsource(getattr(module, answer.name))).rstrip()


def _refuse_unasked(answer: Answer, qualname: str, asked: set[tuple[str, str]]) -> None:
    if (answer.module, qualname) not in asked:
        raise Complaint(
            f"the cell shows {answer.name}; {qualname} is marked, but not asked for",
            f"add {answer.module}.{qualname} to `:answer:`, or take its markers off",
        )
