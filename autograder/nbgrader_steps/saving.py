"""Save scores as nbgrader does; ask for no second look at an answer that is the same.

nbgrader asks a human to look again after every grading. What an answer was when its
scores were saved is kept in `grading/answers/`.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_grade, is_solution

from autograder.whole_files import write_whole

ANSWERS = Path("grading", "answers")


class SaveScores(SaveAutoGrades):
    """nbgrader's step that saves scores; what a human settled stays settled."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Save the scores, and what the answers were."""
        path = self._path(resources)
        own = answers_in(nb)
        self._same = {
            name for name, known in _read(path).items() if own.get(name) == known
        }
        nb, resources = super().preprocess(nb, resources)
        write_whole(path, json.dumps(own).encode())
        return nb, resources

    def _path(self, resources: dict[str, Any]) -> Path:
        names, root = resources["nbgrader"], Path(self.parent.parent.coursedir.root)
        student = hashlib.sha256(names["student"].encode()).hexdigest()
        return root / ANSWERS / names["assignment"] / f"{student}.json"

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        """Save a score; where the answer is as it was, whether to look at it too."""
        name = cell.metadata.nbgrader["grade_id"]
        if name not in self._same:
            super()._add_score(cell, resources)
            return
        where = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(name, *where)
        score, is_open = grade.auto_score, grade.needs_manual_grade
        super()._add_score(cell, resources)
        if is_solution(cell):
            grade.auto_score = score
        if grade.auto_score == score:
            grade.needs_manual_grade = is_open


def answers_in(notebook: NotebookNode) -> dict[str, str]:
    """Return for each graded cell a digest of what its score depends on.

    For a written answer that is its text and its pictures, else all code.
    """
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return {
        cell.metadata.nbgrader["grade_id"]: _digest(
            [cell.source, cell.get("attachments")] if is_solution(cell) else code
        )
        for cell in notebook.cells
        if is_grade(cell)
    }


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, str]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
