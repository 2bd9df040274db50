"""Read the options with which a master states the role of each cell.

`solutions/notebooks/README.md` describes the options for authors. One option states the
cell's role and its name:

| option     | part of the cell                    | nbgrader                      |
|------------|-------------------------------------|-------------------------------| |
`setup`    | finds the kit, fetches it on Colab  | read-only, `grade_id` setup   | |
`exercise` | answer: code the student writes     | solution, `grade_id` = name   | |
`check`    | visible check of an exercise        | grade, `grade_id` = name-check| |
`written`  | text answer graded by hand          | grade and solution            | |
`task`     | task graded by hand                 | task                          | |
`readonly` | restored before grading             | read-only, `grade_id` = name  | |
`demo`     | shows the student's code at work    | none; tag `demo`              | |
`hand-in`  | makes the file to hand in           | read-only, `grade_id` hand-in |

If a cell has nbgrader's own dictionary `nbgrader`, the dictionary determines the role.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.assemble.markers import SOLUTION_BEGINS, TEXT_BEGIN, TEXT_END
from autograder.assemble.master import MasterCell
from autograder.assemble.problems import Complaint

CODE_ROLES = ("setup", "exercise", "check", "readonly", "demo", "hand-in")
TEXT_ROLES = ("written", "task", "readonly")
GRADED_ROLES = ("check", "written", "task")
TIMED_ROLES = ("exercise", "written", "task")
UNNAMED_ROLES = ("setup", "demo", "hand-in")
OWN_OPTIONS = ("answer", "points", "difficulty", "minutes", "id", "nbgrader")
PASSED_ON = ("tags", "cellView", "jupyter", "colab", "editable", "deletable")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_NAME = 58  # a cell id has at most 64 characters, and "-check" has six


@dataclass(frozen=True)
class Cell:
    """Hold a cell of a master and its role in the notebook."""

    role: str
    cell_type: str
    source: str
    line: int
    name: str | None = None
    answers: tuple[str, ...] = ()
    points: float | None = None
    difficulty: int | None = None
    minutes: int | None = None
    cell_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def grade_id(self) -> str | None:
        """Return nbgrader's name for the cell, or None if it has no such name."""
        if self.role in ("plain", "demo"):
            return None
        if self.role in ("setup", "hand-in"):
            return self.role
        return f"{self.name}-check" if self.role == "check" else self.name

    @property
    def label(self) -> str:
        """Return a name for the cell that can be used in a message."""
        if self.grade_id:
            return f"cell '{self.grade_id}'"
        first = self.source.strip().split("\n")[0]
        return f"cell '{first[:40]}'"


def read_cell(cell: MasterCell) -> Cell:
    """Determine the role of a cell in a master.

    Raises:
        Complaint: if its options are unknown, contradictory or incomplete.
    """
    options = dict(cell.options)
    if "nbgrader" in options:
        options |= _short_form(options.pop("nbgrader"), cell.cell_type)
    role = _role(options, cell.cell_type)
    made = Cell(
        role=role,
        cell_type=cell.cell_type,
        source=cell.source,
        line=cell.line,
        name=None if role in ("plain", *UNNAMED_ROLES) else _name(options[role]),
        answers=_answers(options.get("answer"), role),
        points=_number(options, "points", role in GRADED_ROLES),
        difficulty=_whole(options, "difficulty", role in TIMED_ROLES, (1, 3)),
        minutes=_whole(options, "minutes", role in TIMED_ROLES, (1, 600)),
        cell_id=options.get("id"),
        metadata={key: options[key] for key in PASSED_ON if key in options},
    )
    _check_source(made)
    return made


def _role(options: Mapping[str, Any], cell_type: str) -> str:
    known = CODE_ROLES if cell_type == "code" else TEXT_ROLES
    for option in options:
        if option not in (*known, *OWN_OPTIONS, *PASSED_ON):
            raise Complaint(
                f"the option '{option}' is unknown in a {cell_type} cell",
                f"known are {', '.join((*known, *OWN_OPTIONS, *PASSED_ON))}",
            )
    found = [role for role in known if role in options]
    if len(found) > 1:
        raise Complaint(
            f"the cell is {' and '.join(found)} at once", "split it: one part a cell"
        )
    role = found[0] if found else "plain"
    if role == "plain" and any(key in options for key in OWN_OPTIONS if key != "id"):
        raise Complaint(
            "the cell has an answer, points, difficulty or minutes, but no name",
            f"add one of the options {', '.join(known)}",
        )
    return role


def _name(value: Any) -> str:
    name = str(value or "")
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME or name.endswith("-check"):
        raise Complaint(
            f"the name '{name}' is not allowed",
            "use lower-case letters, digits and single hyphens, such as `causal-mask`, "
            f"at most {LONGEST_NAME} characters, not ending in `-check`",
        )
    return name


def _answers(value: Any, role: str) -> tuple[str, ...]:
    if role != "exercise":
        if value is not None:
            raise Complaint("`answer` without `exercise`", "add `:exercise: NAME`")
        return ()
    paths = value if isinstance(value, list) else str(value or "").split(",")
    answers = tuple(str(path).strip() for path in paths if str(path).strip())
    if not answers:
        raise Complaint(
            "the exercise has no answer", "add `:answer: transformer.MODULE.OBJECT`"
        )
    return answers


def _number(options: Mapping[str, Any], key: str, wanted: bool) -> float | None:
    value = options.get(key)
    if not wanted and value is None:
        return None
    if not wanted:
        raise Complaint(
            f"`{key}` on a cell that has none", "give points to check, written or task"
        )
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise Complaint(
            f"a graded cell without {key} (found {value!r})",
            f"add `{key}` with a number above 0",
        )
    return value


def _whole(
    options: Mapping[str, Any], key: str, wanted: bool, limits: tuple[int, int]
) -> int | None:
    value = options.get(key)
    if not wanted and value is None:
        return None
    low, high = limits
    if not wanted or type(value) is not int or not low <= value <= high:
        raise Complaint(
            f"`{key}` is {value!r}",
            f"exercise, written and task have `{key}`, a whole number from {low} to "
            f"{high}; other cells have none",
        )
    return value


def _check_source(cell: Cell) -> None:
    if cell.role in ("setup", "hand-in", "exercise") and cell.source.strip():
        raise Complaint(
            "the cell has code of its own",
            "remove it: the assembler fills this cell in",
        )
    if cell.role == "written" and SOLUTION_BEGINS not in cell.source:
        raise Complaint(
            "a written answer without a model answer",
            f"put it between {TEXT_BEGIN} and {TEXT_END}",
        )
    if cell.role != "written" and SOLUTION_BEGINS in cell.source:
        raise Complaint(
            f"a {SOLUTION_BEGINS} in a cell that is no written answer",
            "take code from the package by `:answer:`; name text by `written`",
        )


def _short_form(nbgrader: Any, cell_type: str) -> dict[str, Any]:
    if not isinstance(nbgrader, dict) or not nbgrader.get("grade_id"):
        raise Complaint("`nbgrader` without grade_id", "give it, or use the short form")
    flags = {key: bool(nbgrader.get(key)) for key in ("grade", "solution", "task")}
    name = str(nbgrader["grade_id"])
    points = {"points": nbgrader["points"]} if "points" in nbgrader else {}
    if flags["task"]:
        return {"task": name, **points}
    if flags["grade"] and flags["solution"]:
        return {"written": name, **points}
    if flags["grade"]:
        return {"check": name.removesuffix("-check"), **points}
    if flags["solution"]:
        return {"exercise": name}
    return {"readonly": name}
