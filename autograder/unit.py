"""What grading must know of a unit, and what somebody handed in for it.

Of a unit: its checks, its points, its released notebook.
"""

from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import Course, load_course

CHECK_SUFFIX = "-check"
NOT_RUN_GRADE_IDS = ("hand-in",)


@dataclass(frozen=True)
class GradedUnit:
    """A unit as the grader sees it.

    Attributes:
        slug: such as `04_attention`; nbgrader's assignment and notebook name.
        checks_file: the hidden checks.
        points: exercise to points of its graded cell, in the notebook's order.
        released: the notebook that students were given.
        kit: the folder beside it, whose `transformer` it may import.
    """

    slug: str
    checks_file: Path
    points: dict[str, float]
    released: NotebookNode
    kit: Path


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one unit."""

    student: str
    slug: str
    path: Path

    @property
    def is_in_linked_folder(self) -> bool:
        """Say whether the student's folder, or one in it, is a link to elsewhere."""
        for folder in self.path.parents:
            if folder.is_symlink():
                return True
            if folder.name == self.student:
                break
        return False


def course_of(root: Path | None = None) -> Course:
    """Read the course under `root`, or this repository's if `root` holds none."""
    if root is not None and (root / "autograder" / "course.toml").is_file():
        return load_course(root)
    return load_course()


def graded_unit(slug: str, root: Path | None = None) -> GradedUnit:
    """Gather what grading needs of the unit `slug`.

    Args:
        slug: the unit's number, topic or slug.
        root: the course's folder; by default this repository.

    Raises:
        FileNotFoundError: if the notebook was not released yet.
    """
    course = course_of(root)
    unit = course.unit(slug)
    path = course.release_notebook(unit)
    if root is not None and (root / "assignments" / unit.slug).is_dir():
        path = root / "assignments" / unit.slug / f"{unit.slug}.ipynb"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: run `make notebooks` first")
    released = nbformat.read(path, as_version=4)
    return GradedUnit(
        unit.slug,
        course.checks_file(unit),
        points_of(released),
        released,
        path.parent,
    )


def points_of(notebook: NotebookNode) -> dict[str, float]:
    """Return the points of each exercise that hidden checks grade, in order."""
    return {
        cell.metadata.nbgrader.grade_id.removesuffix(CHECK_SUFFIX): float(
            cell.metadata.nbgrader.points
        )
        for cell in notebook.cells
        if is_graded_code(cell)
    }


def is_graded_code(cell: NotebookNode) -> bool:
    """Say whether hidden checks decide the cell's points."""
    details = cell.metadata.get("nbgrader", {})
    graded = details.get("grade") and not details.get("solution")
    return cell.cell_type == "code" and bool(graded)


def is_run(cell: NotebookNode) -> bool:
    """Say whether a code cell of ours or the student's is executed while grading.

    Graded cells, our demonstrations and the cell that makes the file to hand in
    are not.
    """
    if cell.cell_type != "code" or is_graded_code(cell):
        return False
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    is_demo = "demo" in cell.metadata.get("tags", [])
    return not is_demo and grade_id not in NOT_RUN_GRADE_IDS


def cells_to_run(notebook: NotebookNode) -> list[str]:
    """Return the sources of the cells that are executed while grading, in order."""
    return [cell.source for cell in notebook.cells if is_run(cell)]
