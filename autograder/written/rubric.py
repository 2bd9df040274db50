"""Read the rubric of a written question from the model answer in the master.

A part of a model answer begins with `1. (6 points)` or `1. **6**:`. If the parts do not
add up to the question's points, the question has no parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, Unit

WRITTEN = re.compile(r'^\+\+\+ \{"(?:written|task)": "(?P<name>[\w-]+)".*$', re.M)
SECRET = re.compile(
    r"<!-- BEGIN (SOLUTION|MARK SCHEME) -->\n(?P<model>.*?)<!-- END \1 -->", re.DOTALL
)
PART = re.compile(r"^(\d+)\. (?:\((\d+) points?[):]|\*\*(\d+)\*\*)", re.M)
HEADING = re.compile(r"^## ", re.M)


@dataclass(frozen=True)
class Rubric:
    """Hold the rubric of a written question.

    Attributes:
        name: the name of the question.
        points: the points for the whole question.
        question: the text that students read.
        model: the model answer, or the mark scheme.
        parts: the points of each part, in order; empty if there are no parts.
    """

    name: str
    points: float
    question: str
    model: str
    parts: tuple[float, ...]


def rubrics_of(course: Course, unit: Unit, points: dict[str, float]) -> list[Rubric]:
    """Return the rubric of each written question of a unit, in order.

    Args:
        course: the course with the master.
        unit: the unit.
        points: maps each question to its points in the released notebook.
    """
    text = course.master(unit).read_text(encoding="utf-8")
    found = []
    for match in WRITTEN.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        secret = SECRET.search(after)
        if secret is None or match["name"] not in points:
            continue
        own = points[match["name"]]
        question = HEADING.split(before)[-1] + after[: secret.start()]
        parts = tuple(float(a or b) for _, a, b in PART.findall(secret["model"]))
        fits = abs(sum(parts) - own) < 0.01
        found.append(
            Rubric(
                match["name"],
                own,
                _plain(question),
                secret["model"].strip(),
                parts if fits else (),
            )
        )
    return found


def _plain(question: str) -> str:
    """Return a question without the assembler's placeholders."""
    return re.sub(r"\{\{.*?\}\}", "", question).strip()


def write_rubric(rubrics: list[Rubric], path: Path) -> None:
    """Write each question and its model answer to a file that graders read."""
    texts = [
        f"# {one.name}: {one.points:g} points\n\n{one.question}\n\n"
        f"## What earns them\n\n{one.model}\n"
        for one in rubrics
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(texts), encoding="utf-8")
