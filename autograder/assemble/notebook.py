"""Make the answer notebook of a unit from its master."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.assemble.answers import Answer, answer_source, find_answer
from autograder.assemble.cells import Cell, read_cell
from autograder.assemble.filled_in import FILES, fill_facts, fixed_source
from autograder.assemble.identity import cell_ids
from autograder.assemble.master import Master, read_master
from autograder.assemble.problems import AssemblyError, Complaint, Problem
from autograder.assemble.rules import problems_between_cells, unasked_answers
from autograder.course import Course, Unit

Result = TypeVar("Result")

FLAGS = {
    "exercise": {"grade": False, "solution": True, "locked": False, "task": False},
    "check": {"grade": True, "solution": False, "locked": True, "task": False},
    "written": {"grade": True, "solution": True, "locked": False, "task": False},
    "task": {"grade": False, "solution": False, "locked": True, "task": True},
    "readonly": {"grade": False, "solution": False, "locked": True, "task": False},
}


@dataclass(frozen=True)
class AnswerNotebook:
    """Hold an answer notebook as text, and the warnings for its author."""

    text: str
    warnings: tuple[str, ...]


class _Problems:
    """Collect problems and where they are."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[Problem] = []

    def try_(self, place: str, make: Callable[[], Result]) -> Result | None:
        """Return the result of `make`, or record the problem that it raises."""
        try:
            return make()
        except Complaint as complaint:
            where = f"{self.path}{place}"
            self.found.append(Problem(where, complaint.what, complaint.remedy))
            return None

    def stop(self) -> None:
        """Raise an error with all recorded problems, if there are any."""
        if self.found:
            raise AssemblyError(self.found)


def make_answer_notebook(course: Course, unit: Unit) -> AnswerNotebook:
    """Make a unit's answer notebook by filling in the master.

    Raises:
        AssemblyError: with a list of all problems of the master.
    """
    path = course.master(unit).relative_to(course.root).as_posix()
    master = read_master(course.master(unit), path)
    problems = _Problems(path)
    cells = _cells(master, problems)
    problems.stop()
    answers = _answers(course, unit, cells, problems)
    problems.found += problems_between_cells(course, unit, cells)
    filled = [
        problems.try_(
            f":{cell.line} ({cell.label})",
            partial(_fill, course, unit, cell, cells, answers),
        )
        for cell in cells
    ]
    problems.stop()
    ids = problems.try_("", partial(cell_ids, [cell for cell in filled if cell]))
    problems.stop()
    asked = {
        f"{one.module}.{name}"
        for found in answers.values()
        for one in found
        for name in one.asked
    }
    return AnswerNotebook(
        _text(master, [cell for cell in filled if cell], ids or []),
        tuple(unasked_answers(course, unit, asked)),
    )


def _cells(master: Master, problems: _Problems) -> list[Cell]:
    read = [
        problems.try_(f":{cell.line}", partial(read_cell, cell))
        for cell in master.cells
    ]
    return [cell for cell in read if cell]


def _answers(
    course: Course, unit: Unit, cells: Sequence[Cell], problems: _Problems
) -> dict[int, list[Answer]]:
    """For each answer cell, find the answers; the key is the cell's line."""
    found: dict[int, list[Answer]] = {}
    for cell in cells:
        for path in cell.answers:
            answer = problems.try_(
                f":{cell.line} ({cell.label})",
                partial(_own_answer, course, unit, path),
            )
            if answer:
                found.setdefault(cell.line, []).append(answer)
    return found


def _own_answer(course: Course, unit: Unit, path: str) -> Answer:
    """Find an answer, and refuse an answer that the unit's kit would contain."""
    answer = find_answer(course, path)
    module = answer.module.removeprefix(f"{course.package}.")
    if course.unit_of_module(module) != unit:
        raise Complaint(
            f"{answer.module} is not a module of unit {unit.slug}",
            f"add '{module}' to this unit's modules in autograder/course.toml, so that "
            "the kit leaves it out",
        )
    return answer


def _fill(
    course: Course,
    unit: Unit,
    cell: Cell,
    cells: Sequence[Cell],
    answers: dict[int, list[Answer]],
) -> Cell:
    if cell.role == "exercise":
        return replace(cell, source=answer_source(answers.get(cell.line, [])))
    if cell.role in FILES:
        return replace(cell, source=fixed_source(cell.role, course, unit))
    if cell.cell_type == "markdown":
        return replace(cell, source=fill_facts(cell.source, course, unit, cells))
    return cell


def _text(master: Master, cells: Sequence[Cell], ids: Sequence[str]) -> str:
    """Return the notebook as text, in the same form as nbformat writes it."""
    notebook = new_notebook(
        metadata={**master.metadata, "language_info": {"name": "python"}},
        cells=[_made(cell, cell_id) for cell, cell_id in zip(cells, ids, strict=True)],
    )
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def _made(cell: Cell, cell_id: str) -> nbformat.NotebookNode:
    metadata: dict[str, Any] = dict(cell.metadata)
    tags = [cell.role] if cell.role in ("setup", "demo", "hand-in") else []
    if tags or metadata.get("tags"):
        metadata["tags"] = [*tags, *metadata.get("tags", [])]
    if cell.grade_id:
        flags = FLAGS["readonly" if cell.role in FILES else cell.role]
        metadata["nbgrader"] = {"grade_id": cell.grade_id, **flags, "schema_version": 3}
    if cell.points is not None:
        metadata["nbgrader"]["points"] = cell.points
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return make(source=cell.source, metadata=metadata, id=cell_id)
