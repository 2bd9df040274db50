"""Look for what must not be in a release: answers, hidden checks, masters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.assemble.kit import IGNORED, kit_files
from autograder.assemble.markers import marked_bodies
from autograder.assemble.problems import Problem
from autograder.course import Course, Unit

FORBIDDEN = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "BEGIN HIDDEN",
    "BEGIN MARK SCHEME",
    "{code-cell}",
    ":answer:",
)
SHORTEST_TELLING_LINE = 12  # characters; shorter lines are in any program
TELLING_SHARE = 0.5  # of the characters of the telling lines of a secret
DRIVES = re.compile(r"\b(student|draw)\.")
WRITTEN = re.compile(r"BEGIN (SOLUTION|MARK SCHEME) -->\n(.*?)<!-- END \1", re.DOTALL)


@dataclass(frozen=True)
class Secret:
    """Text that students must not be given; how much of it gives it away."""

    name: str
    lines: frozenset[str]
    share: float = TELLING_SHARE


def audit_release(course: Course) -> list[Problem]:
    """List everything under assignments/ that students must not have."""
    checks = list(_hidden_checks(course))
    problems = []
    for folder in sorted((course.root / "assignments").glob("*")):
        unit = next((one for one in course.units if one.slug == folder.name), None)
        if unit is None:
            where = folder.relative_to(course.root).as_posix()
            problems.append(Problem(where, "belongs to no unit", "remove it"))
        else:
            secrets = [*_answers(course, unit), *_written(course, unit), *checks]
            problems += _audit_unit(course, unit, secrets)
    return problems


def _audit_unit(
    course: Course, unit: Unit, secrets: Sequence[Secret]
) -> Iterator[Problem]:
    folder = course.release_dir(unit)
    kit = kit_files(course, unit)
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        where = path.relative_to(course.root).as_posix()
        if path.is_dir() or set(IGNORED) & set(inside.parts):
            continue
        if path != course.release_notebook(unit) and inside.as_posix() not in kit:
            what = "is neither the notebook nor a part of the kit of this unit"
            yield Problem(where, what, "remove it, and run `make notebooks`")
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        for mark in FORBIDDEN:
            if mark in text:
                yield Problem(where, f"contains '{mark}'", "run `make notebooks`")
        shown = _telling(_shown_lines(path, text))
        for secret in secrets:
            if _gives_away(shown, secret):
                remedy = "reword what gives it away, or take the module out of the kit"
                yield Problem(where, f"gives away {secret.name}", remedy)


def _answers(course: Course, unit: Unit) -> Iterator[Secret]:
    """Yield the answers of this unit and of all later ones."""
    for other in course.units:
        for module in other.modules if other.number >= unit.number else ():
            path = course.module_file(module)
            for body in marked_bodies(path) if path.is_file() else ():
                name = f"the answer {course.package}.{module}.{body.qualname}"
                yield Secret(name, _telling(body.lines))


def _written(course: Course, unit: Unit) -> Iterator[Secret]:
    """Yield the model answers and mark schemes of a master."""
    path = course.master(unit)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for number, match in enumerate(WRITTEN.finditer(text), start=1):
        name = f"the model answer or mark scheme number {number} of {path.name}"
        yield Secret(name, _telling(match[2].split("\n")))


def _hidden_checks(course: Course) -> Iterator[Secret]:
    """Yield the lines of hidden checks that drive the student's code: one is enough."""
    for unit in course.units:
        path = course.checks_file(unit)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        lines = text.split("\n")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                body = lines[node.body[0].lineno - 1 : node.end_lineno]
                driving = [line for line in body if DRIVES.search(line)]
                yield Secret(f"{path.name}::{node.name}", _telling(driving), share=0)


def _shown_lines(path: Path, text: str) -> list[str]:
    """Return the lines that a student reads in a notebook or in a module."""
    if path.suffix != ".ipynb":
        return text.split("\n")
    cells = nbformat.reads(text, as_version=4).cells
    return [line for cell in cells for line in cell.source.split("\n")]


def _telling(lines: Iterable[str]) -> frozenset[str]:
    """Keep lines long enough to be told from any other; comments and spaces go."""
    plain = ("".join(re.sub(r"\s+#\s.*", "", line).split()) for line in lines)
    return frozenset(one for one in plain if len(one) >= SHORTEST_TELLING_LINE)


def _gives_away(shown: frozenset[str], secret: Secret) -> bool:
    told = sum(len(line) for line in secret.lines & shown)
    return bool(told) and told >= secret.share * sum(map(len, secret.lines))
