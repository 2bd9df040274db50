"""Collect the text that students must not see, and detect lines that reveal it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.assemble.markers import (
    SOLUTION_BEGINS,
    SOLUTION_ENDS,
    marked_bodies,
)
from autograder.course import Course, Unit

FORBIDDEN = (
    SOLUTION_BEGINS,
    SOLUTION_ENDS,
    "BEGIN HIDDEN",
    "BEGIN MARK SCHEME",
    "{code-cell}",
    ":answer:",
)
SHORTEST_TELLING_LINE = 12  # characters; shorter lines occur in any program
TELLING_SHARE = 0.5  # share of the characters in a secret's distinctive lines
DRIVES = re.compile(r"\b(student|draw)\.")
WRITTEN = re.compile(r"BEGIN (SOLUTION|MARK SCHEME) -->\n(.*?)<!-- END \1", re.DOTALL)


@dataclass(frozen=True)
class Secret:
    """Hold text that students must not see, and the share of it that reveals it."""

    name: str
    lines: frozenset[str]
    share: float = TELLING_SHARE


def secret_answers(course: Course, unit: Unit) -> Iterator[Secret]:
    """Yield the answers of this unit and of all later units."""
    for other in course.units:
        for module in other.modules if other.number >= unit.number else ():
            path = course.module_file(module)
            for body in marked_bodies(path) if path.is_file() else ():
                name = f"the answer {course.package}.{module}.{body.qualname}"
                yield Secret(name, telling_lines(body.lines))


def secret_texts(course: Course, unit: Unit) -> Iterator[Secret]:
    """Yield the model answers and mark schemes in a unit's master."""
    path = course.master(unit)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for number, match in enumerate(WRITTEN.finditer(text), start=1):
        name = f"the model answer or mark scheme number {number} of {path.name}"
        yield Secret(name, telling_lines(match[2].split("\n")))


def secret_checks(course: Course) -> Iterator[Secret]:
    """Yield the lines of hidden checks that call student code; one line is too much."""
    for unit in course.units:
        path = course.checks_file(unit)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        lines = text.split("\n")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                body = lines[node.body[0].lineno - 1 : node.end_lineno]
                driving = [line for line in body if DRIVES.search(line)]
                yield Secret(
                    f"{path.name}::{node.name}", telling_lines(driving), share=0
                )


def shown_lines(path: Path, text: str) -> list[str]:
    """Return the lines that a student reads in a notebook or module."""
    if path.suffix != ".ipynb":
        return text.split("\n")
    cells = nbformat.reads(text, as_version=4).cells
    return [line for cell in cells for line in cell.source.split("\n")]


def telling_lines(lines: Iterable[str]) -> frozenset[str]:
    """Return the lines that are long enough to be distinctive, without comments."""
    plain = ("".join(re.sub(r"\s+#\s.*", "", line).split()) for line in lines)
    return frozenset(one for one in plain if len(one) >= SHORTEST_TELLING_LINE)


def gives_away(shown: frozenset[str], secret: Secret) -> bool:
    """Return whether the visible lines contain too large a share of a secret."""
    told = sum(len(line) for line in secret.lines & shown)
    return bool(told) and told >= secret.share * sum(map(len, secret.lines))
