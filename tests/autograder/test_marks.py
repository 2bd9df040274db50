"""Marks are written all or none, and in the way of nbgrader's own steps."""

import contextlib
import copy
import os
import sqlite3
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    OverwriteCells,
    SaveAutoGrades,
)
from tiny_grading import UNIT, only

from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import converter, write
from autograder.gradebook import open_session
from autograder.grading.outcome import Outcome
from autograder.grading.submission import grade_submission
from autograder.marks import clear_marks, marks_of, time_in, write_marks
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
STUDENT = "mistake-1"
IN_TIME = "2025-01-02 00:00:00 UTC"
ROWS = (
    "SELECT a.student_id, b.name, g.auto_score, g.manual_score, g.needs_manual_grade "
    "FROM grade g JOIN base_cell b ON b.id = g.cell_id JOIN submitted_notebook n "
    "ON n.id = g.notebook_id JOIN submitted_assignment a ON a.id = n.assignment_id",
    "SELECT a.student_id, b.name, c.auto_comment, c.manual_comment FROM comment c "
    "JOIN base_cell b ON b.id = c.cell_id JOIN submitted_notebook n "
    "ON n.id = c.notebook_id JOIN submitted_assignment a ON a.id = n.assignment_id",
    "SELECT a.student_id, a.timestamp, n.late_submission_penalty FROM "
    "submitted_notebook n JOIN submitted_assignment a ON a.id = n.assignment_id",
)


@pytest.fixture
def graded(classroom: Path) -> tuple[ClassFolder, Outcome]:
    """Return a class that has the unit, and the outcome of one late submission."""
    only(classroom, STUDENT)
    path = classroom / "autograder" / "course.toml"
    path.write_text(f"{path.read_text()}\n[late]\npercent_a_day = 10\n")
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2025-01-01 00:00:00 UTC")
    (chosen,) = folder.submissions(UNIT)
    (chosen.path.parent / "timestamp.txt").write_text(IN_TIME)
    unit = graded_unit(UNIT, classroom)
    return folder, grade_submission(unit, chosen, folder.limits)


def rows(folder: ClassFolder) -> list[list[tuple]]:
    """Return every mark, comment and time in the gradebook."""
    connection = sqlite3.connect(folder.db_url.removeprefix("sqlite:///"))
    found = [sorted(connection.execute(text), key=repr) for text in ROWS]
    connection.close()
    return found


def write_with_nbgrader(folder: ClassFolder, notebook: NotebookNode) -> NotebookNode:
    """Let nbgrader's own steps write the marks, and return the resulting notebook."""
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_student(STUDENT)
        gradebook.update_or_create_submission(UNIT, STUDENT, timestamp=IN_TIME)
    names = {"notebook": UNIT, "assignment": UNIT, "student": STUDENT}
    resources = {"nbgrader": {**names, "db_url": folder.db_url}}
    for step in (OverwriteCells, SaveAutoGrades, AssignLatePenalties):
        made = step(parent=converter(folder))
        notebook, resources = made.preprocess(notebook, resources)
    return notebook


def forget(folder: ClassFolder) -> None:
    """Remove the student, and the digests of the graded files."""
    with Gradebook(folder.db_url) as gradebook:
        gradebook.remove_student(STUDENT)
    for path in (folder.root / "grading").rglob("answers/*/*.json"):
        path.unlink()


@pytest.mark.parametrize("is_known", [False, True])
def test_the_rows_are_those_of_nbgraders_own_steps(graded, is_known):
    folder, outcome = graded
    theirs_notebook = write_with_nbgrader(folder, copy.deepcopy(outcome.notebook))
    theirs = rows(folder)
    if is_known:  # the rows exist, with other marks
        clear_marks(folder.db_url, outcome.submission)
        assert rows(folder) != theirs
    else:
        forget(folder)
        assert rows(folder) == [[], [], []]
    marks = write_marks(converter(folder), outcome.submission, outcome.notebook)
    assert rows(folder) == theirs
    assert all(map(len, theirs))
    assert outcome.notebook == theirs_notebook
    assert (marks.score, marks.penalty) == (51.0, 5.67)


def test_an_untouched_answer_is_said_to_be_no_response(graded):
    folder, outcome = graded
    released = graded_unit(UNIT, folder.root).released
    untouched = {cell.id: cell.source for cell in released.cells}
    for cell in outcome.notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = untouched[cell.id]
    theirs_notebook = write_with_nbgrader(folder, copy.deepcopy(outcome.notebook))
    theirs = rows(folder)
    forget(folder)
    write_marks(converter(folder), outcome.submission, outcome.notebook)
    assert rows(folder) == theirs
    assert {row[2] for row in rows(folder)[1]} == {"No response."}
    assert theirs_notebook == outcome.notebook


def test_the_marks_that_were_written_are_those_that_are_read(graded):
    folder, outcome = graded
    written = write(folder, outcome)
    assert outcome.status == "graded"
    with open_session(folder.db_url) as session:
        assert marks_of(session, UNIT, STUDENT) == written
        assert marks_of(session, UNIT, "nobody") == marks_of(session, UNIT, "\udc80")
    path = folder.autograded(STUDENT, UNIT) / f"{UNIT}.ipynb"
    assert path.stat().st_mode & 0o777 == 0o444
    assert (path.parent / "timestamp.txt").read_text() == IN_TIME


def test_a_cell_that_the_gradebook_does_not_know_writes_nothing(graded):
    folder, outcome = graded
    checked = [c for c in outcome.notebook.cells if "nbgrader" in c.metadata]
    graded_cell = next(c for c in checked if c.metadata.nbgrader.get("grade"))
    graded_cell.metadata.nbgrader["grade_id"] = "nothing"
    with pytest.raises(MissingEntry, match="does not know the cell nothing"):
        write_marks(converter(folder), outcome.submission, outcome.notebook)
    assert rows(folder) == [[], [], []]


def test_rows_of_a_cell_that_came_later_are_added(graded):
    folder, outcome = graded
    write_marks(converter(folder), outcome.submission, outcome.notebook)
    before = rows(folder)
    connection = sqlite3.connect(folder.db_url.removeprefix("sqlite:///"))
    for table in ("grade", "comment"):
        connection.execute(f"DELETE FROM {table} WHERE rowid % 2 = 0")
    connection.commit()
    connection.close()
    assert rows(folder) != before
    for path in (folder.root / "grading").rglob("answers/*/*.json"):
        path.unlink()
    write_marks(converter(folder), outcome.submission, outcome.notebook)
    assert rows(folder) == before


def test_the_released_notebook_has_metadata_that_nbgrader_takes(classroom):
    """The test checks it only once, because submissions are rebuilt from it."""
    released = graded_unit(UNIT, classroom).released
    assert CheckCellMetadata().preprocess(released, {})[0] is released


def no_file(place: Path) -> None:
    """Write nothing."""


@pytest.mark.parametrize(
    ("lay", "refused"),
    [
        (no_file, False),
        (lambda place: place.write_text("2026-03-01 23:59:59 UTC"), False),
        (lambda place: place.write_text("soon"), True),
        (lambda place: place.write_text("1" * 1_000_000), True),  # hours to parse
        (lambda place: os.mkfifo(place), True),  # nobody writes to it
    ],
    ids=["no file", "a time", "a word", "too long", "a pipe"],
)
def test_only_a_short_regular_file_is_read_as_a_time(tmp_path, lay, refused):
    lay(tmp_path / "timestamp.txt")
    with pytest.raises(ValueError) if refused else contextlib.nullcontext():
        time_in(tmp_path)
