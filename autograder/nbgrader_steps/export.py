"""Make `nbgrader export` safe: no cell is a formula, and points have two decimals."""

from types import SimpleNamespace
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from autograder.sandbox.safe_cells import safe_cell


class CsvCell(str):
    """Text for a cell of a CSV file that spreadsheets do not interpret as a formula."""

    def __format__(self, specification: str) -> str:
        """Return the cell's text, quoted if necessary."""
        text = safe_cell(self)
        return '"' + text.replace('"', '""') + '"' if set('",') & set(text) else text


class SafeGradebook:
    """Wrap a gradebook so that names are safe cells and points are rounded."""

    def __init__(self, gradebook: Gradebook):
        """Wrap `gradebook`."""
        self._gradebook = gradebook

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the wrapped gradebook."""
        return getattr(self._gradebook, name)

    @property
    def students(self) -> list[SimpleNamespace]:
        """Return the students with the data that are exported."""
        fields = ("id", "first_name", "last_name", "email")
        return [
            SimpleNamespace(**{key: CsvCell(getattr(one, key) or "") for key in fields})
            for one in self._gradebook.students
        ]

    def find_submission(self, assignment: str, student: str) -> SimpleNamespace:
        """Return a submission's data with rounded points: 66.24, not 66.24000000000001.

        Raises:
            MissingEntry: if there is no such submission.
        """
        found = self._gradebook.find_submission(assignment, student)
        penalty = round(found.late_submission_penalty or 0.0, 2)
        return SimpleNamespace(
            timestamp=found.timestamp,
            score=round(found.score, 2),
            late_submission_penalty=penalty,
        )


class SafeCsvExport(CsvExportPlugin):
    """Run nbgrader's own export on a gradebook with safe cells."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file."""
        super().export(SafeGradebook(gradebook))
