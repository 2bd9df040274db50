"""Write a submission with one gradebook, which is asked for each thing once.

nbgrader's steps open nine gradebooks a submission, ask for every cell by itself, and
commit whatever they change.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import nbgrader.api
import nbgrader.converters.autograde
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import (
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
)
from sqlalchemy.orm import scoped_session, sessionmaker

from autograder.gradebook import OpenTransaction, fetch_cells

RELEASED = (Assignment, Notebook, BaseCell, SourceCell)
STEPS = (
    nbgrader.converters.autograde,
    latesubmissions,
    overwritecells,
    overwritekernelspec,
    saveautogrades,
)
_whole: set[str] = set()  # addresses of gradebooks that have all their tables


class OneGradebook(Gradebook):
    """A gradebook that stays open from step to step, and remembers what it found."""

    db: scoped_session[Any]

    def __init__(self, db_url: str):
        """Open it; what is saved need not be read again to be known.

        Within a transaction, nothing is seen before its end, and each question writes
        what it must know. Tables are looked for once in a process.
        """
        if db_url in _whole:
            self.engine = nbgrader.api.create_engine(db_url, echo=False, future=True)
            self.db = scoped_session(sessionmaker(self.engine, future=True))
            self.authenticator = None
        else:
            super().__init__(db_url)
            self.db.remove()
            _whole.add(db_url)
        self.db.configure(expire_on_commit=False)
        self.save = self.db.commit
        if isinstance(self.engine, OpenTransaction):
            setattr(self.db, "commit", lambda: None)  # noqa: B010
        self._known: dict[tuple[str, ...], Any] = {}

    def __exit__(self, *_problem: object) -> None:
        """Stay open: a step that ends is not the last one."""

    def find_student(self, student_id: str) -> Student:
        """Return a student."""
        find = super().find_student
        return self._once(lambda: find(student_id), "student", student_id)

    def add_student(self, student_id: str, **details: Any) -> Student:
        """Add a student, who need not be looked for again."""
        add = super().add_student
        return self._once(lambda: add(student_id, **details), "student", student_id)

    def find_assignment(self, name: str) -> Assignment:
        """Return an assignment, with all cells of its notebooks and what they are."""
        find = super().find_assignment
        return self._once(lambda: self._with_cells(find(name)), "assignment", name)

    def find_notebook(self, name: str, assignment: str) -> Notebook:
        """Return an assignment's notebook."""
        notebooks = self.find_assignment(assignment).notebooks
        found = [notebook for notebook in notebooks if notebook.name == name]
        return found[0] if found else super().find_notebook(name, assignment)

    def find_submission(self, *where: str) -> SubmittedAssignment:
        """Return a student's submission."""
        find = super().find_submission
        return self._once(lambda: find(*where), "submission", *where)

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
        self.forget_scores()
        return self._submitted(*where)

    def forget_scores(self) -> None:
        """Read anew what is asked for now, but for what was released."""
        self.db.flush()
        for row in self.db:
            if not isinstance(row, RELEASED):
                self.db.expire(row)

    def _with_cells(self, assignment: Assignment) -> Assignment:
        for notebook in assignment.notebooks:
            fetch_cells(notebook)
        return assignment

    def _submitted(self, *where: str) -> SubmittedNotebook:
        find = super().find_submission_notebook
        return self._once(lambda: find(*where), "submitted", *where)

    def _once(self, find: Callable[[], Any], *key: str) -> Any:
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def _by_name(self, kind: str, notebook: str, assignment: str) -> dict[str, Any]:
        cells = getattr(self.find_notebook(notebook, assignment), kind)
        return {cell.name: cell for cell in cells}

    def _of(self, kind: type[Grade] | type[Comment], *where: str) -> dict[str, Any]:
        own = self._submitted(*where)
        found = self.db.query(BaseCell.name, kind).join(kind.cell)
        return {name: one for name, one in found.filter(kind.notebook_id == own.id)}


@contextlib.contextmanager
def one_gradebook(db_url: str) -> Iterator[OneGradebook]:
    """Have nbgrader's steps share one gradebook, in place of one each."""
    gradebook = OneGradebook(db_url)
    for module in STEPS:
        setattr(module, "Gradebook", lambda *_which: gradebook)  # noqa: B010
    try:
        yield gradebook
        gradebook.save()
    finally:
        for module in STEPS:
            setattr(module, "Gradebook", Gradebook)  # noqa: B010
        gradebook.close()
