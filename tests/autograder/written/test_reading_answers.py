"""A written answer is its cell and the student's own cells below it."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.classroom.folder import ClassFolder
from autograder.written.reading import answers_to

STUB = "YOUR ANSWER HERE"
PICTURE = {"x.png": {"image/png": "iVBORw0KGgo="}}


@pytest.fixture
def answer_of(tiny_unit, tmp_path):
    """Return a function that reads an answer from a notebook with cells after it."""

    def read(text, *behind):
        notebook = copy.deepcopy(tiny_unit.released)
        named = [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]
        at = named.index("why")
        notebook.cells[at].source = text
        notebook.cells[at + 1 : at + 1] = behind
        folder = ClassFolder(tmp_path)
        path = folder.autograded("ada", tiny_unit.slug) / f"{tiny_unit.slug}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        return answers_to(folder, tiny_unit, ["ada"], ["why"])["why"]["ada"]

    return read


def test_the_second_half_in_a_cell_of_its_own_is_read(answer_of):
    halves = new_markdown_cell("is nothing."), new_markdown_cell("And so on.")
    assert answer_of("Nothing", *halves).text == "Nothing\n\nis nothing.\n\nAnd so on."


def test_an_answer_below_the_untouched_cell_is_read(answer_of):
    below = new_markdown_cell("Nothing ![](attachment:x.png)", attachments=PICTURE)
    found = answer_of(STUB, below)
    assert (found.text, found.has_picture) == (below.source, True)


def test_what_stands_behind_a_cell_of_code_is_no_answer(answer_of):
    notes = new_code_cell("1 + 1"), new_markdown_cell("My notes.")
    assert answer_of("Nothing.", *notes).text == "Nothing."


def test_nothing_written_stays_nothing(answer_of):
    assert answer_of(STUB).text == STUB
