"""Write feedback pages: nbgrader's, with our words and templates compiled once."""

from typing import Any

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import is_grade, is_task

from autograder.grading.feedback_table import number
from autograder.grading.outcome import RECORD
from autograder.unit import CHECK_SUFFIX


class MemoryCache(BytecodeCache):
    """Keep compiled templates as long as the process lives."""

    def __init__(self) -> None:
        """Begin with none."""
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket if its template, unchanged since, was compiled before."""
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        self._compiled[bucket.key] = bucket.bytecode_to_string()


COMPILED = MemoryCache()


class GradesOrNone(GetGrades):
    """nbgrader's step that fetches scores; says which cells nobody has graded yet."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Fetch a cell's score, and whether there is one at all."""
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if is_grade(cell) or is_task(cell):
            grade = self.gradebook.find_grade(
                cell.metadata.nbgrader["grade_id"],
                self.notebook_id,
                self.assignment_id,
                self.student_id,
            )
            cell.metadata.nbgrader["ungraded"] = (
                grade.auto_score is None and grade.manual_score is None
            )
        return cell, resources


def exercise_name(grade_id: str) -> str:
    """Return an exercise's name as a contents list shows it."""
    return grade_id.removesuffix(CHECK_SUFFIX).replace("-", " ").capitalize()


def failed_of(cell: NotebookNode, notebook: NotebookNode) -> list[dict[str, Any]]:
    """Return the checks of a graded cell that did not pass."""
    exercise = cell.metadata.nbgrader["grade_id"].removesuffix(CHECK_SUFFIX)
    return [check for check in _failed(notebook) if check["exercise"] == exercise]


def has_failed(notebook: NotebookNode) -> bool:
    """Say whether any check did not pass."""
    return bool(_failed(notebook))


def _failed(notebook: NotebookNode) -> list[dict[str, Any]]:
    checks = notebook.metadata.get(RECORD, {}).get("checks", [])
    return [check for check in checks if check["status"] != "passed"]


class FeedbackExporter(HTMLExporter):
    """nbconvert's HTML exporter with our filters, templates compiled once a process."""

    def default_filters(self) -> Any:
        """Yield nbconvert's filters and those of our template."""
        yield from super().default_filters()
        yield "exercise_name", exercise_name
        yield "points", number
        yield "failed", failed_of
        yield "has_failed", has_failed

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = COMPILED
        return environment
