"""Check that a notebook's cells and the hidden checks are consistent."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.assemble.cells import GRADED_ROLES, Cell
from autograder.assemble.markers import marked_bodies
from autograder.assemble.problems import Complaint, Problem
from autograder.course import Course, Unit

FULL_MARKS = 100


def problems_between_cells(
    course: Course, unit: Unit, cells: Sequence[Cell]
) -> Iterator[Problem]:
    """Yield the problems that concern several cells of a notebook."""
    master = course.master(unit).relative_to(course.root).as_posix()
    yield from _repeated_ids(master, cells)
    yield from _unpaired(master, cells)
    yield from _points(master, cells)
    yield from _hidden_checks(course, unit, master, cells)


def unasked_answers(course: Course, unit: Unit, asked: set[str]) -> Iterator[str]:
    """Yield a warning for each marked function that the notebook does not use."""
    for module in unit.modules:
        path = course.module_file(module)
        for body in marked_bodies(path) if path.is_file() else ():
            name = f"{course.package}.{module}.{body.qualname}"
            if name not in asked:
                yield f"{unit.slug}: {name} has markers, but no cell asks for it"


def _repeated_ids(master: str, cells: Sequence[Cell]) -> Iterator[Problem]:
    first: dict[str, Cell] = {}
    for cell in cells:
        if cell.grade_id and cell.grade_id in first:
            yield Problem(
                f"{master}:{cell.line}",
                f"the grade_id '{cell.grade_id}' is also that of the cell in line "
                f"{first[cell.grade_id].line}",
                "give one of them another name",
            )
        elif cell.grade_id:
            first[cell.grade_id] = cell


def _unpaired(master: str, cells: Sequence[Cell]) -> Iterator[Problem]:
    """Yield problems for exercises without a check and checks without an exercise."""
    checks = {cell.name for cell in cells if cell.role == "check"}
    above: set[str | None] = set()
    for cell in cells:
        if cell.role == "exercise":
            above.add(cell.name)
        if cell.role == "exercise" and cell.name not in checks:
            what = f"the exercise '{cell.name}' has no check cell"
            remedy = f"add a code cell with `:check: {cell.name}` and `:points:`"
            yield Problem(f"{master}:{cell.line} ({cell.label})", what, remedy)
        if cell.role == "check" and cell.name not in above:
            what = f"no exercise '{cell.name}' stands above its check"
            remedy = (
                f"add a code cell with `:exercise: {cell.name}` above, or correct it"
            )
            yield Problem(f"{master}:{cell.line} ({cell.label})", what, remedy)


def _points(master: str, cells: Sequence[Cell]) -> Iterator[Problem]:
    graded = [cell for cell in cells if cell.role in GRADED_ROLES]
    total = sum(cell.points or 0 for cell in graded)
    if total != FULL_MARKS:
        each = ", ".join(f"{cell.grade_id} {cell.points:g}" for cell in graded)
        what = f"the points add up to {total:g}, expected {FULL_MARKS} ({each})"
        yield Problem(master, what, "change the points of some cells")


def _hidden_checks(
    course: Course, unit: Unit, master: str, cells: Sequence[Cell]
) -> Iterator[Problem]:
    path = course.checks_file(unit)
    shown = path.relative_to(course.root).as_posix()
    try:
        checked = _checked_exercises(path)
    except Complaint as complaint:
        yield Problem(shown, complaint.what, complaint.remedy)
        return
    names = Counter(cell.name for cell in cells if cell.role == "check")
    for cell in cells:
        if cell.role == "check" and cell.name not in checked:
            what = f"the graded cell has no hidden check named '{cell.name}'"
            remedy = f'write @check("{cell.name}", …) in {shown}'
            yield Problem(f"{master}:{cell.line} ({cell.label})", what, remedy)
    for name in sorted(checked - set(names)):
        what = f"hidden checks for '{name}', which {master} does not have"
        yield Problem(
            shown, what, f"remove them, or add `:check: {name}` to the master"
        )


def _checked_exercises(path: Path) -> frozenset[str]:
    """Return the exercises that are named in the `@check("exercise", …)` decorators.

    Raises:
        Complaint: if the file is not valid Python, or if a decorator names no exercise.
    """
    if not path.is_file():
        return frozenset()
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        what = f"{path.name}:{error.lineno}: {error.msg}"
        raise Complaint(what, "fix the file of hidden checks") from None
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
