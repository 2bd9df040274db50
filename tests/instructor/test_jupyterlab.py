"""A student works in JupyterLab, in a real browser, and hands in the saved notebook.

One server and one browser serve the whole module. The notebook is the published one of
unit 04, in its folder with its kit, and JupyterLab shows nothing of nbgrader.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from chromium import browser
from guide_pictures.jupyter_server import jupyter_server
from guide_pictures.lab_page import LabPage
from guide_pictures.sample_class import (
    EXERCISE,
    UNIT,
    make_students_folder,
    right_answer,
    wrong_answer,
)
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import load_course
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
STUDENT = "ada-lovelace"


def released() -> nbformat.NotebookNode:
    return nbformat.read(load_course().release_notebook(UNIT), as_version=4)


def place(name: str) -> int:
    """Return the position of a cell in the notebook."""
    return [cell.id for cell in released().cells].index(name)


def last_words(check: str) -> str:
    """Return the text that a visible check prints for a right answer."""
    return re.findall(r'print\("(.+)"\)', released().cells[place(check)].source)[-1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a student's folder with the unit in it."""
    root = tmp_path_factory.mktemp("student")
    make_students_folder(root)
    return root


@pytest.fixture(scope="module")
def lab(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabPage]:
    """Open the notebook, and run the cells before the first exercise."""
    home, profile = (tmp_path_factory.mktemp(name) for name in ("home", "profile"))
    notebook = f"assignments/{UNIT.slug}/{UNIT.slug}.ipynb"
    with (
        jupyter_server(folder, home, instructor=False) as (address, token),
        browser(profile) as chrome,
    ):
        opened = LabPage(chrome.page)
        opened.open(address, token, notebook)
        said = opened.run(place("setup")) + opened.run(place("imports"))
        assert f"{UNIT.slug} is set up: PyTorch " in said
        yield opened
        assert chrome.outside == set()


def test_untouched_the_check_says_what_to_write(lab: LabPage) -> None:
    lab.run(place(EXERCISE))
    said = lab.run(place(f"{EXERCISE}-check"))
    assert "NotImplementedError: Write masked_softmax." in said


def test_a_wrong_answer_is_explained(lab: LabPage) -> None:
    lab.type_into(place(EXERCISE), wrong_answer())
    assert lab.run(place(EXERCISE)) == ""
    said = lab.run(place(f"{EXERCISE}-check"))
    error, _, message = said.strip().splitlines()[-1].partition(": ")
    assert error == "AssertionError"
    assert message in released().cells[place(f"{EXERCISE}-check")].source
    assert "may not attend to" in message
    assert last_words(f"{EXERCISE}-check") not in said.splitlines()


def test_a_right_answer_is_told_so(lab: LabPage) -> None:
    lab.type_into(place(EXERCISE), right_answer())
    assert lab.run(place(EXERCISE)) == ""
    said = lab.run(place(f"{EXERCISE}-check"))
    assert said.strip() == last_words(f"{EXERCISE}-check")


def test_what_is_saved_keeps_ids_and_metadata_and_is_graded(
    lab: LabPage, folder: Path, tmp_path: Path
) -> None:
    lab.save()
    path = folder / "assignments" / UNIT.slug / f"{UNIT.slug}.ipynb"
    saved = nbformat.read(path, as_version=4)
    handed_out = released()
    assert [cell.id for cell in saved.cells] == [cell.id for cell in handed_out.cells]
    for before, after in zip(handed_out.cells, saved.cells, strict=True):
        assert after.metadata.get("nbgrader") == before.metadata.get("nbgrader")
        assert (after.source == before.source) is (after.id != EXERCISE), after.id
    assert saved.cells[place(EXERCISE)].source == right_answer()
    assert saved.metadata.accelerator == "GPU"

    handed_in = tmp_path / "handed-in" / STUDENT
    handed_in.mkdir(parents=True)
    (handed_in / path.name).write_bytes(path.read_bytes())
    for words in (["collect", str(handed_in.parent)], ["grade", "04", "--workers=1"]):
        done = CliRunner().invoke(app, [*words, "--course-root", str(tmp_path)])
        assert done.exit_code == 0, done.output
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        (found,) = gradebook.assignment_submissions(UNIT.slug)
        points = graded_unit(UNIT.slug).points[EXERCISE]
        assert (found.student.id, found.score) == (STUDENT, points)


def test_nothing_went_wrong_in_the_page(lab: LabPage) -> None:
    assert lab.faults == []
