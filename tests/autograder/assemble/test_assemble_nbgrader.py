"""nbgrader's own commands make the same release, and gradebooks stay whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder.assemble.assembler import assemble
from autograder.assemble.preprocessors import stub_names
from autograder.assemble.problems import AssemblyError
from autograder.assemble.release import configure_release, register_assignment
from autograder.course import Course
from autograder.gradebook import find_alembic


@pytest.fixture
def db_url(tmp_path: Path) -> str:
    """Return the address of a gradebook that does not exist yet."""
    return f"sqlite:///{tmp_path / 'gradebook.db'}"


@pytest.mark.integration
def test_formgraders_button_makes_the_same_release(pocket, contents, db_url) -> None:
    find_alembic()
    assemble(pocket)
    before = contents(pocket.release_dir(pocket.unit("1")))
    c = Config()
    configure_release(c, pocket.root)
    c.CourseDirectory.root = str(pocket.root)
    c.CourseDirectory.db_url = db_url
    c.Exchange.root = str(pocket.root.parent)
    outcome = NbGraderAPI(config=c).generate_assignment("01_sums")
    assert outcome["success"], outcome
    assert contents(pocket.release_dir(pocket.unit("1"))) == before


def test_registering_writes_cells_and_points(pocket, contents, db_url) -> None:
    assemble(pocket)
    before = contents(pocket.root)
    register_assignment(pocket, pocket.unit("1"), db_url)
    register_assignment(pocket, pocket.unit("1"), db_url)
    assert contents(pocket.root) == before
    with Gradebook(db_url) as gradebook:
        notebook = gradebook.find_notebook("01_sums", "01_sums")
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        assert points == {"add-up-check": 70, "why": 20}
        assert {cell.name: cell.max_score for cell in notebook.task_cells} == {
            "essay": 10
        }
        assert (
            "Brahmagupta"
            in gradebook.find_source_cell(*["essay", *["01_sums"] * 2]).source
        )


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # from nbgrader itself
def test_registering_again_keeps_submissions(pocket, edit, db_url) -> None:
    assemble(pocket)
    unit = pocket.unit("1")
    register_assignment(pocket, unit, db_url)
    with Gradebook(db_url) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission("01_sums", "ada")
        grade = gradebook.find_grade("add-up-check", "01_sums", "01_sums", "ada")
        grade.manual_score = 55.0
        gradebook.db.commit()
    register_assignment(pocket, unit, db_url)
    edit(
        "solutions/notebooks/01_sums/01_sums.md",
        '"readonly": "why-question"',
        '"readonly": "other"',
    )
    assemble(pocket)
    with pytest.raises(AssemblyError, match="Cannot add or remove cells"):
        register_assignment(pocket, unit, db_url)
    with Gradebook(db_url) as gradebook:
        grade = gradebook.find_grade("add-up-check", "01_sums", "01_sums", "ada")
        assert grade.manual_score == 55.0


def test_registering_needs_the_answer_notebook(pocket: Course, db_url: str) -> None:
    with pytest.raises(AssemblyError, match="run `make notebooks`"):
        register_assignment(pocket, pocket.unit("1"), db_url)


def test_assembling_leaves_no_gradebook(pocket: Course) -> None:
    assemble(pocket)
    assert not list(pocket.root.rglob("*.db"))


def test_stub_names_of_nested_definitions() -> None:
    mark = "### BEGIN SOLUTION"
    source = f"""
@decorated
def outer(x):
    def inner(y):
        return y
    {mark}

class A:
    @property
    async def b(self):
        {mark}

    class C:
        def d(self):
            if self:
                {mark}
"""
    assert stub_names(source) == ["outer", "A.b", "A.C.d"]
