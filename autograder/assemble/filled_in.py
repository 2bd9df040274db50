"""Fill in a unit's data and the cells that are the same in all notebooks.

Placeholders `{{ … }}` in Markdown cells are replaced with data of the unit. The set-up
cell and the hand-in cell come from templates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.assemble.cells import Cell
from autograder.assemble.problems import Complaint
from autograder.course import Course, Unit

PLACEHOLDER = re.compile(r"\{\{ +(\w+)(?:: *([^}\s]+))? +\}\}")
DIFFICULTY = {1: "●○○", 2: "●●○", 3: "●●●"}
TEMPLATES = Path(__file__).with_name("templates")
FILES = {"setup": "setup.py", "hand-in": "hand_in.py"}


def fill_facts(text: str, course: Course, unit: Unit, cells: Sequence[Cell]) -> str:
    """Replace `{{ title }}`, `{{ colab }}`, `{{ facts }}` and `{{ facts: exercise }}`.

    Raises:
        Complaint: if a placeholder or the exercise that it names is unknown.
    """

    def fact(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "title" and name is None:
            return unit.title
        if kind == "colab" and name is None:
            return course.colab_link(unit, "Open this notebook in Colab")
        if kind == "facts" and name is None:
            return _of_unit(course, unit, cells)
        if kind == "facts":
            return _of_exercise(name, cells)
        raise Complaint(
            f"the placeholder {match[0]} is unknown",
            "known are {{ title }}, {{ colab }}, {{ facts }} and {{ facts: NAME }}",
        )

    return PLACEHOLDER.sub(fact, text)


def _of_unit(course: Course, unit: Unit, cells: Sequence[Cell]) -> str:
    minutes = sum(cell.minutes or 0 for cell in cells)
    points = sum(cell.points or 0 for cell in cells)
    last = max(one.number for one in course.units)
    chapter = course.chapter_url(unit)
    return (
        f"Unit {unit.number:02} of {last:02} · about {minutes} minutes "
        f"· {points:g} points"
    ) + (f" · [Read the chapter]({chapter})" if chapter else "")


def _of_exercise(name: str, cells: Sequence[Cell]) -> str:
    named = [cell for cell in cells if cell.name == name and cell.role != "readonly"]
    timed = next((cell for cell in named if cell.minutes and cell.difficulty), None)
    if timed is None:
        raise Complaint(
            f"{{{{ facts: {name} }}}} names no exercise of this notebook",
            "write the NAME of an `exercise`, `written` or `task`",
        )
    points = sum(cell.points or 0 for cell in named)
    return (
        f"{DIFFICULTY[timed.difficulty or 1]} · about {timed.minutes} minutes "
        f"· {points:g} points"
    )


def fixed_source(role: str, course: Course, unit: Unit) -> str:
    """Return the source of a unit's set-up cell or hand-in cell."""
    text = (TEMPLATES / FILES[role]).read_text(encoding="utf-8")
    packages = course.packages_of(unit).items()
    lines = [f'    "{name}": "{use}",' for name, use in packages]
    names = {
        "unit": unit.slug,
        "repository": course.repository,
        "branch": course.branch,
        "package": course.package,
    }
    _, _, code = text.partition("\n\n")  # drop the docstring, which is for authors
    code = code.replace("    # @packages@", "\n".join(lines))
    return re.sub(r"@(\w+)@", lambda match: names[match[1]], code).strip()
