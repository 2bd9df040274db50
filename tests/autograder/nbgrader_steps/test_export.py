"""`nbgrader export` writes no formulas, and refuses a target that is not a file."""

import csv
import os

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.exportapp import ExportApp
from tiny_grading import UNIT, cells, only, submission
from traitlets.config import Config

from autograder.classroom.folder import ClassFolder
from autograder.gradebook import find_alembic
from autograder.nbgrader_steps.settings import configure

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NAMES = {
    "first_name": '=HYPERLINK("http://evil","x")',
    "last_name": 'O"Neill, Jr\n=1+1',
    "email": "+49",
}


@pytest.fixture
def gradebook(tmp_path):
    find_alembic()
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as made:
        made.add_assignment("04_attention")
        made.add_student("=cmd()", **NAMES)
        made.add_submission("04_attention", "=cmd()")
        made.add_student("plain")
        yield made


@pytest.mark.integration
def test_names_of_a_roster_are_no_formulas(gradebook, tmp_path):
    config = Config()
    configure(config, tmp_path)
    config.ExportPlugin.to = str(tmp_path / "grades.csv")
    app = ExportApp(config=config)
    app.init_plugin()
    app.plugin_inst.export(gradebook)
    with open(tmp_path / "grades.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    row = next(row for row in rows if row["student_id"] != "plain")
    assert len(rows) == 2 and None not in row
    assert row["student_id"] == "'=cmd()"
    assert row["first_name"] == "'" + NAMES["first_name"]
    assert row["last_name"] == 'O"Neill, Jr =1+1'
    assert float(row["score"]) == 0


@pytest.mark.integration
def test_a_pipe_for_a_notebook_is_refused_and_a_human_asked(classroom):
    only(classroom, "perfect-one")
    path = submission(classroom, "perfect-one")
    path.unlink()
    os.mkfifo(path)
    folder = ClassFolder(classroom)
    folder.register(UNIT)
    api = NbGraderAPI(folder.coursedir, config=folder.config)
    done = api.autograde(UNIT, "perfect-one")
    assert not done["success"]
    assert "it is not a file" in done["log"]
    marks = cells(classroom)
    assert marks
    assert all(auto is None and by_hand for auto, _, by_hand in marks.values())
