"""Read a unit's checks, points and released notebook to grade submissions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import Course, load_course

CHECK_SUFFIX = "-check"
NOT_RUN_GRADE_IDS = ("hand-in",)


@dataclass(frozen=True)
class GradedUnit:
    """Hold the data of a unit that the grader needs.

    Attributes:
        slug: the name of nbgrader's assignment and of the notebook, such as
            `04_attention`.
        checks_file: the path of the hidden checks.
        points: maps each exercise to the points of its graded cell, in the notebook's
            order.
        released: the notebook that students receive.
        kit: the notebook's folder, which contains the package `transformer` that it may
            import.
        answers: maps each exercise to the course's own answer, in the notebook's order.
        draw_number: a number from which the seed of the checks' inputs is derived.
    """

    slug: str
    checks_file: Path
    points: dict[str, float]
    released: NotebookNode
    kit: Path
    answers: Mapping[str, str] = field(default_factory=dict)
    draw_number: int = 0


@dataclass(frozen=True)
class OurAnswer:
    """Hold the course's answer to an exercise, and where it belongs in a notebook.

    Attributes:
        place: the index of the answer cell among the cells that run.
        source: the source of the course's answer.
        end: how many cells run before the exercise's check.
    """

    place: int
    source: str
    end: int


@dataclass(frozen=True)
class Submission:
    """Identify one student's notebook for one unit."""

    student: str
    slug: str
    path: Path

    @property
    def is_in_linked_folder(self) -> bool:
        """Return whether one of the folders around the notebook is a symbolic link."""
        for folder in self.path.parents:
            if folder.is_symlink():
                return True
            if folder.name == self.student:
                break
        return False


def course_of(root: Path | None = None) -> Course:
    """Read the course under `root`, or this repository's course if there is none."""
    if root is not None and (root / "autograder" / "course.toml").is_file():
        return load_course(root)
    return load_course()


def graded_unit(slug: str, root: Path | None = None) -> GradedUnit:
    """Collect all data of a unit that grading needs.

    Args:
        slug: the unit's number, topic or slug.
        root: the course's folder. The default is this repository.

    Raises:
        FileNotFoundError: if the unit's notebooks have not been made yet.
    """
    course = course_of(root)
    unit = course.unit(slug)
    path = course.release_notebook(unit)
    if root is not None and (root / "assignments" / unit.slug).is_dir():
        path = root / "assignments" / unit.slug / f"{unit.slug}.ipynb"
    released = _notebook(path)
    points = points_of(released)
    return GradedUnit(
        unit.slug,
        course.checks_file(unit),
        points,
        released,
        path.parent,
        answers_in(_notebook(course.answer_notebook(unit)), points),
        course.draw_number,
    )


def _notebook(path: Path) -> NotebookNode:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: run `make notebooks` first")
    return nbformat.read(path, as_version=4)


def answers_in(notebook: NotebookNode, exercises: Iterable[str]) -> dict[str, str]:
    """Return the source of each exercise's answer cell in the notebook's order."""
    found = {_grade_id(cell): cell.source for cell in notebook.cells if _is_code(cell)}
    return {name: found[name] for name in exercises if name in found}


def points_of(notebook: NotebookNode) -> dict[str, float]:
    """Return the points of each exercise that hidden checks grade, in order."""
    return {
        cell.metadata.nbgrader.grade_id.removesuffix(CHECK_SUFFIX): float(
            cell.metadata.nbgrader.points
        )
        for cell in notebook.cells
        if is_graded_code(cell)
    }


def written_points(notebook: NotebookNode) -> dict[str, float]:
    """Return the points of each written question in the notebook's order."""
    found = (cell.metadata.get("nbgrader", {}) for cell in notebook.cells)
    return {
        own["grade_id"]: float(own["points"])
        for own in found
        if own.get("task") or (own.get("grade") and own.get("solution"))
    }


def headings(notebook: NotebookNode) -> dict[str, str]:
    """Return the heading above each answer of a notebook."""
    found, heading = {}, ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines = [line for line in cell.source.splitlines() if line.startswith("#")]
            heading = lines[-1].lstrip("# ") if lines else heading
        details = cell.metadata.get("nbgrader", {})
        if details.get("solution") or details.get("task"):
            found[details["grade_id"]] = heading
    return found


def points_told(notebook: NotebookNode) -> float:
    """Return the total points of a released notebook, including written questions."""
    return sum([*points_of(notebook).values(), *written_points(notebook).values()])


def is_graded_code(cell: NotebookNode) -> bool:
    """Return whether hidden checks determine the points of a cell."""
    details = cell.metadata.get("nbgrader", {})
    graded = details.get("grade") and not details.get("solution")
    return cell.cell_type == "code" and bool(graded)


def is_run(cell: NotebookNode) -> bool:
    """Return whether grading executes a cell.

    Grading does not execute graded cells, demos and the hand-in cell.
    """
    if not _is_code(cell) or is_graded_code(cell):
        return False
    is_demo = "demo" in cell.metadata.get("tags", [])
    return not is_demo and _grade_id(cell) not in NOT_RUN_GRADE_IDS


def _is_code(cell: NotebookNode) -> bool:
    return cell.cell_type == "code"


def _grade_id(cell: NotebookNode) -> str | None:
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def cells_to_run(notebook: NotebookNode) -> list[str]:
    """Return the sources of the cells that grading executes, in order."""
    return [cell.source for cell in notebook.cells if is_run(cell)]


def our_answers(
    answers: Mapping[str, str], notebook: NotebookNode
) -> dict[str, OurAnswer]:
    """Return each of the course's `answers` with its position in `notebook`."""
    places: dict[str | None, int] = {}
    ends: dict[str, int] = {}
    count = 0
    for cell in notebook.cells:
        grade_id = _grade_id(cell)
        if is_run(cell):
            places.setdefault(grade_id, count)
            count += 1
        elif is_graded_code(cell):
            ends[str(grade_id).removesuffix(CHECK_SUFFIX)] = count
    return {
        exercise: OurAnswer(places[exercise], source, ends.get(exercise, count))
        for exercise, source in answers.items()
        if exercise in places
    }
