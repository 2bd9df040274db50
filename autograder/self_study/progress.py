"""Store the learner's progress in a readable file, and print the course's map."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import Course, Unit
from autograder.phrases import Phrase
from autograder.self_study.waiting import NotRun
from autograder.unit import headings, points_of

FILE = "progress.json"
PASSED, FAILED, NOTHING = "✓", "✗", "–"  # at the start of a line
MINUTES = re.compile(r"about (\d+) minutes")
Progress = dict[str, dict[str, dict[str, Any]]]  # by unit, by exercise, by key


def read_progress(folder: Path) -> Progress:
    """Return the contents of the progress file, or {} if the file does not exist.

    Raises:
        NotRun: if the file is damaged. The file is not changed.
    """
    path = folder / FILE
    try:
        found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return {
            unit: {e: dict(f) for e, f in own.items()} for unit, own in found.items()
        }
    except (AttributeError, TypeError, ValueError):
        words = Phrase("{path} is damaged: fix it, or delete it.", str(path))
        raise NotRun(words) from None


def record(folder: Path, unit: Unit, facts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write data on a unit's exercises into the file, and keep all other data.

    Raises:
        NotRun: if the file is damaged or cannot be written.
    """
    progress = read_progress(folder)
    own = progress.setdefault(unit.slug, {})
    for exercise, more in facts.items():
        own.setdefault(exercise, {}).update(more)
    text = json.dumps(dict(sorted(progress.items())), indent=2, ensure_ascii=False)
    new = folder / f"{FILE}.new"
    try:
        new.unlink(missing_ok=True)  # it could be a link that leads elsewhere
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(folder / FILE)
    except OSError as error:
        words = Phrase("{path} cannot be written: {quoted}.", str(new), error.strerror)
        raise NotRun(words) from None


@dataclass(frozen=True)
class Step:
    """Hold an exercise or a written question for the course's map.

    `points` are the points that checks can give, so they are 0 for a written question.
    """

    name: str
    title: str
    minutes: int
    points: float


def steps_of(course: Course, unit: Unit, language: str) -> list[Step]:
    """Return a unit's exercises and written questions in the notebook's order."""
    released = _read(course.release_notebook(unit))
    titles = headings(_read(notebook_in(course, unit, language)))
    points = points_of(released)
    return [
        Step(name, titles.get(name, name), minutes, points.get(name, 0))
        for name, minutes in minutes_of(released).items()
    ]


def course_map(
    course: Course, folder: Path, language: str, told: Callable[[str], str]
) -> str:
    """Return a line for each unit, and the next exercise with its duration."""
    progress = read_progress(folder)
    units = [u for u in course.units if course.release_notebook(u).is_file()]
    lines, unfinished = [], {}
    for unit in units:
        own = progress.get(unit.slug, {})
        steps = steps_of(course, unit, language)
        left = [step for step in steps if not own.get(step.name, {}).get("passed")]
        graded = [step for step in steps if step.points]
        earned = sum(own.get(step.name, {}).get("points", 0) for step in graded)
        total = sum(step.points for step in graded)
        line = Phrase(
            "{title}: {done} of {count} exercises, {points} of {total} points",
            *(title_in(course, unit, language), len(steps) - len(left), len(steps)),
            *(f"{earned:g}", f"{total:g}"),
        )
        if left:
            unfinished[unit] = left
            line = Phrase(
                "{line}, about {minutes} minutes left",
                *(line, sum(step.minutes for step in left)),
            )
        lines.append(f"{NOTHING if left else PASSED} {unit.number:02} {told(line)}")
    note = Phrase("Only exercises with checks have points here.")
    after = [told(note), told(_next(course, progress, unfinished))]
    return "\n".join([*lines, "", *after])


def _next(
    course: Course, progress: Progress, unfinished: Mapping[Unit, list[Step]]
) -> Phrase:
    """Name the next exercise."""
    begun = max((u.number for u in course.units if u.slug in progress), default=0)
    later = [unit for unit in unfinished if unit.number >= begun]
    unit = next(iter(later or unfinished), None)
    if unit is None:
        return Phrase("All exercises are done.")
    step = unfinished[unit][0]
    return Phrase(
        "Next: unit {unit}, exercise {title}, about {minutes} minutes",
        *(f"{unit.number:02}", step.title, step.minutes),
    )


def notebook_in(course: Course, unit: Unit, language: str) -> Path:
    """Return the path of the released notebook in a language, or else in English."""
    path = course.notebook(unit, language)
    return path if path.is_file() else course.release_notebook(unit)


def minutes_of(notebook: NotebookNode) -> dict[str, int]:
    """Return how many minutes an English notebook states for each exercise."""
    found, minutes = {}, 0
    for cell in notebook.cells:
        stated = MINUTES.findall(cell.source) if cell.cell_type == "markdown" else ()
        minutes = int(stated[-1]) if stated else minutes
        details = cell.metadata.get("nbgrader", {})
        if details.get("solution") or details.get("task"):
            found[details["grade_id"]] = minutes
    return found


def title_in(course: Course, unit: Unit, language: str) -> str:
    """Return a unit's title in a language, from the first line of its notebook."""
    first = _read(notebook_in(course, unit, language)).cells[0].source
    return first.splitlines()[0].lstrip("# ") if first else unit.title


def _read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)
