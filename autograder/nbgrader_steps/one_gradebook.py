"""Write a submission with one gradebook, which is asked for each thing once.

nbgrader's steps open nine gradebooks a submission, ask for every cell by itself, and
commit whatever they change.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import nbgrader.converters.autograde
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SourceCell,
    SubmittedNotebook,
)
from nbgrader.preprocessors import (
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
)

from autograder.gradebook import OpenTransaction

STEPS = (
    nbgrader.converters.autograde,
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
)


class OneGradebook(Gradebook):
    """A gradebook that stays open from step to step, and remembers what it found."""

    def __init__(self, db_url: str, *settings: Any):
        """Open it; what is saved need not be read again to be known."""
        super().__init__(db_url, *settings)
        self.db.remove()
        self.db.configure(expire_on_commit=False)
        self.save = self.db.commit
        if isinstance(self.engine, OpenTransaction):  # nothing is seen before its end,
            self.db.commit = lambda: None  # and each question writes what it must know
        self._known: dict[tuple[str, ...], Any] = {}

    def __exit__(self, *_problem: object) -> None:
        """Stay open: a step that ends is not the last one."""

    def find_notebook(self, name: str, assignment: str) -> Notebook:
        """Return an assignment's notebook."""
        find = super().find_notebook
        return self._once(lambda: find(name, assignment), "notebook", name, assignment)

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SourceCell:
        """Return a cell as it was released."""
        cells = self._once(
            lambda: self._by_name("source_cells", notebook, assignment),
            *("released", notebook, assignment),
        )
        return cells.get(name) or super().find_source_cell(name, notebook, assignment)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> BaseCell:
        """Return what a graded cell is worth."""
        cells = self._once(
            lambda: self._by_name("grade_cells", notebook, assignment),
            *("graded", notebook, assignment),
        )
        return cells.get(name) or super().find_graded_cell(name, notebook, assignment)

    def find_grade(self, name: str, *where: str) -> Grade:
        """Return a student's grade of a cell."""
        grades = self._once(lambda: self._of(Grade, *where), "grades", *where)
        return grades.get(name) or super().find_grade(name, *where)

    def find_comment(self, name: str, *where: str) -> Comment:
        """Return the comment on a student's cell."""
        comments = self._once(lambda: self._of(Comment, *where), "comments", *where)
        return comments.get(name) or super().find_comment(name, *where)

    def find_submission_notebook(self, *where: str) -> SubmittedNotebook:
        """Return a student's notebook with its score, a sum that the database makes."""
        self.db.expire_all()
        return super().find_submission_notebook(*where)

    def _once(self, find: Callable[[], Any], *key: str) -> Any:
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def _by_name(self, kind: str, notebook: str, assignment: str) -> dict[str, Any]:
        cells = getattr(self.find_notebook(notebook, assignment), kind)
        return {cell.name: cell for cell in cells}

    def _of(self, kind: type[Grade] | type[Comment], *where: str) -> dict[str, Any]:
        own = super().find_submission_notebook(*where)
        found = self.db.query(BaseCell.name, kind).join(kind.cell)
        return {name: one for name, one in found.filter(kind.notebook_id == own.id)}


@contextlib.contextmanager
def one_gradebook(db_url: str) -> Iterator[None]:
    """Have nbgrader's steps share one gradebook, in place of one each."""
    gradebook = OneGradebook(db_url)
    for module in STEPS:
        setattr(module, "Gradebook", lambda *_which: gradebook)  # noqa: B010
    try:
        yield
        gradebook.save()
    finally:
        for module in STEPS:
            setattr(module, "Gradebook", Gradebook)  # noqa: B010
        gradebook.close()
