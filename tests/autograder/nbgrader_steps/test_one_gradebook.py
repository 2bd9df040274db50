"""An outcome is written as nbgrader writes it, but with one gradebook and once."""

import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import nbformat
import nbgrader.api
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.preprocessors import overwritecells
from sqlalchemy.exc import SAWarning
from tiny_grading import UNIT, only

from autograder.classroom import writing
from autograder.classroom.folder import ClassFolder
from autograder.classroom.marks import Marks, marks_of
from autograder.grading.submission import grade_submission
from autograder.nbgrader_steps.metadata import CheckMetadata
from autograder.nbgrader_steps.one_gradebook import OneGradebook, one_gradebook
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
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


class NbgradersWay(Autograde):
    """nbgrader's own two passes, with the outcome already known."""

    outcome = writing.AnyTrait()


@pytest.fixture
def written(classroom: Path) -> tuple[ClassFolder, object]:
    """Return a class that knows its unit, and the outcome of one late submission."""
    only(classroom, "mistake-1")
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2025-01-01 00:00:00 UTC")
    (chosen,) = folder.submissions(UNIT)
    (chosen.path.parent / "timestamp.txt").write_text("2025-01-02 00:00:00 UTC")
    unit = graded_unit(UNIT, classroom)
    return folder, grade_submission(unit, chosen, folder.limits)


def rows(folder: ClassFolder) -> list[list[tuple]]:
    with sqlite3.connect(folder.db_url.removeprefix("sqlite:///")) as connection:
        found = [sorted(connection.execute(text), key=repr) for text in ROWS]
    connection.close()
    return found


def marks(folder: ClassFolder) -> Marks:
    with Gradebook(folder.db_url) as gradebook:
        return marks_of(gradebook, UNIT, "mistake-1")


def notebook_of(folder: ClassFolder) -> NotebookNode:
    path = folder.autograded("mistake-1", UNIT) / f"{UNIT}.ipynb"
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def test_the_outcome_is_written_as_nbgrader_writes_it(written, monkeypatch):
    folder, outcome = written
    with monkeypatch.context() as nbgraders:
        nbgraders.setattr(writing, "WriteOutcome", NbgradersWay)
        nbgraders.setattr(
            writing, "one_gradebook", lambda url: closing(OneGradebook(url))
        )
        their_marks = writing.write(folder, outcome)
    theirs, their_notebook = rows(folder), notebook_of(folder)
    assert outcome.status == "graded"
    writing.take_back(folder, outcome.submission)
    assert rows(folder) != theirs
    folder = ClassFolder(folder.root)  # which is written by our own way
    assert writing.write(folder, outcome) == their_marks == marks(folder)
    assert rows(folder) == theirs
    assert notebook_of(folder) == their_notebook
    assert all(map(len, theirs))


def test_a_submission_opens_one_gradebook(written, monkeypatch):
    folder, outcome = written
    opened, make = [], nbgrader.api.create_engine

    def watched(db_url, **settings):
        opened.append(db_url)
        return make(db_url, **settings)

    monkeypatch.setattr(nbgrader.api, "create_engine", watched)
    writing.write(folder, outcome)
    assert outcome.status == "graded"
    assert opened == [folder.db_url]


def test_afterwards_nbgraders_steps_open_their_own(written):
    folder, _ = written
    with one_gradebook(folder.db_url):
        assert overwritecells.Gradebook(folder.db_url).__class__ is OneGradebook
    assert overwritecells.Gradebook is Gradebook
    with pytest.raises(RuntimeError, match="broken off"), one_gradebook(folder.db_url):
        raise RuntimeError("broken off")
    assert overwritecells.Gradebook is Gradebook


def test_what_is_not_there_is_said_as_nbgrader_says_it(written):
    folder, _ = written
    with one_gradebook(folder.db_url), warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        gradebook = overwritecells.Gradebook(folder.db_url)
        gradebook.update_or_create_student("nobody")
        with pytest.raises(MissingEntry):
            gradebook.find_source_cell("nothing", UNIT, UNIT)
        with pytest.raises(MissingEntry):
            gradebook.find_graded_cell("nothing", UNIT, UNIT)
        with pytest.raises(MissingEntry):
            gradebook.find_grade("nothing", UNIT, UNIT, "nobody")


def test_the_same_metadata_is_checked_once(classroom, monkeypatch):
    released, looked_at = graded_unit(UNIT, classroom).released, []
    validate = MetadataValidator.validate_nb

    def watched(self, notebook):
        looked_at.append(notebook)
        validate(self, notebook)

    monkeypatch.setattr(MetadataValidator, "validate_nb", watched)
    step = CheckMetadata()
    for _ in range(3):
        assert step.preprocess(released, {})[0] is released
    assert len(looked_at) <= 1


def test_damaged_metadata_is_refused_each_time(classroom):
    released = graded_unit(UNIT, classroom).released
    graded = [c for c in released.cells if c.metadata.get("nbgrader", {}).get("grade")]
    graded[0].metadata.nbgrader["grade_id"] = graded[1].metadata.nbgrader["grade_id"]
    for _ in range(2):
        with pytest.raises(ValidationError):
            CheckMetadata().preprocess(released, {})
