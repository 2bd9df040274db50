"""The committed catalogues are up to date and sound, and every rule finds its fault."""

from __future__ import annotations

import ast
import copy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.course import Course, Unit, load_course
from autograder.translations import notebooks
from autograder.translations.catalogue import Message, translations
from autograder.translations.pseudolocalize import pseudolocalize
from autograder.translations.report import catalogues, fallen, faults_in, recorded
from autograder.translations.report import states as states_of
from autograder.translations.sources import (
    NOTEBOOKS,
    SHARED,
    quick_messages,
    unit_catalogue,
)
from autograder.translations.update import outdated, update
from autograder.unit import is_graded_code

COURSE = load_course()


@pytest.mark.integration
def test_the_catalogues_are_up_to_date() -> None:
    """CI also compares the catalogues of the book's pages, which take a minute."""
    old = [path for path, _ in outdated(COURSE, quick_messages(COURSE))]
    assert old == [], "run `course translations extract`"


def test_no_translation_has_a_fault() -> None:
    found = [fault for one in catalogues(COURSE) for fault in faults_in(*one)]
    assert found == []


def test_no_share_has_fallen() -> None:
    assert list(fallen(states_of(COURSE), recorded(COURSE))) == []


def test_an_outdated_catalogue_is_told_and_written(
    tmp_path: Path, pocket: Course
) -> None:
    messages = {"a/one.po": [Message("A sentence.")], "a/two.po": [Message("More.")]}
    assert len(update(pocket, messages)) == 2
    assert list(outdated(pocket, messages)) == []
    later = {"a/one.po": [Message("A sentence."), Message("Another.")]}
    names = {path.name: text for path, text in outdated(pocket, later)}
    assert "Another." in names["one.po"] and names["two.po"] is None
    update(pocket, later)
    assert list(outdated(pocket, later)) == []


@pytest.fixture(scope="module")
def pseudolocalized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all catalogues, translated into invented words."""
    folder = tmp_path_factory.mktemp("pseudolocalized") / "ko"
    pseudolocalize(COURSE.root / "book" / "locale" / "ko", folder)
    return folder


def in_korean(unit: Unit, folder: Path) -> tuple[NotebookNode, NotebookNode]:
    english = nbformat.read(COURSE.release_notebook(unit), as_version=4)
    before = copy.deepcopy(english)
    own = translations(folder / unit_catalogue(NOTEBOOKS, unit))
    shared = translations(folder / SHARED)
    made = notebooks.translated(english, unit.slug, own, shared)
    assert english == before
    return english, made


class Blanked(ast.NodeTransformer):
    """Replaces every string by the same text."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("text")

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("text") if isinstance(node.value, str) else node


def without_words(source: str) -> str:
    """Return a cell's code without its strings."""
    return ast.dump(Blanked().visit(ast.parse(source)))


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_a_notebook_in_other_words_is_the_same(
    unit: Unit, pseudolocalized: Path
) -> None:
    english, made = in_korean(unit, pseudolocalized)
    assert [cell.id for cell in made.cells] == [cell.id for cell in english.cells]
    changed = 0
    for one, other in zip(english.cells, made.cells, strict=True):
        own, others = (dict(cell.metadata.get("nbgrader", {})) for cell in (one, other))
        changed += one.source != other.source
        if one.source != other.source and "checksum" in own:
            assert own.pop("checksum") != others.pop("checksum")
        assert own == others
        if is_graded_code(one):
            assert without_words(one.source) == without_words(other.source)
    assert changed > len(english.cells) / 2
    text = nbformat.writes(made)
    assert "BEGIN SOLUTION" not in text and "NotImplementedError" in text


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_the_korean_notebook_has_the_code_of_the_english_one(unit: Unit) -> None:
    english = nbformat.read(COURSE.release_notebook(unit), as_version=4)
    korean = nbformat.read(COURSE.translated_notebook(unit, "ko"), as_version=4)
    for one, other in zip(english.cells, korean.cells, strict=True):
        if one.cell_type == "code" and "setup" not in one.metadata.get("tags", []):
            assert without_words(one.source) == without_words(other.source)


@pytest.mark.parametrize("unit", COURSE.units[:1], ids=lambda unit: unit.slug)
def test_without_translations_a_notebook_is_english(unit: Unit, tmp_path: Path) -> None:
    english, made = in_korean(unit, tmp_path)
    for own, other in (  # links lead to the files of this edition
        (f"/assignments/{unit.slug}/", f"/assignments/ko/{unit.slug}/"),
        (f"/{unit.slug}.html", f"/ko/{unit.slug}.html"),
    ):
        assert other in made.cells[0].source
        made.cells[0].source = made.cells[0].source.replace(other, own)
    for cell, other in zip(made.cells, english.cells, strict=True):
        if cell.id == "setup":  # it also names the language of explained errors
            assert cell.source != other.source
            cell.source = cell.source.replace('errors("ko")', 'errors("en")')
            cell.metadata.nbgrader.checksum = compute_checksum(cell)
    assert made.cells == english.cells


def test_facts_are_put_into_words_whatever_they_are(tmp_path: Path) -> None:
    shared = {
        "Unit {number} of {last}": "{last}단원 가운데 {number}단원",
        "about {minutes} minutes": "약 {minutes}분",
        "{points} points": "{points}점",
        "[Read the chapter]({address})": "[장 읽기]({address})",
        "[Open this notebook in Colab]({address})": "[Colab에서 열기]({address})",
    }
    cell = nbformat.v4.new_markdown_cell(
        "Unit 04 of 13 · about 75 minutes · 100 points · "
        "[Read the chapter](https://book/04_attention.html) · "
        "[Open this notebook in Colab](b/assignments/04_attention/one.ipynb)\n\n"
        "●○○ · about 5 minutes · 7.5 points"
    )
    notebook = nbformat.v4.new_notebook(cells=[cell])
    made = notebooks.translated(notebook, "04_attention", {}, shared)
    assert made.cells[0].source == (
        "13단원 가운데 4단원 · 약 75분 · 100점 · "
        "[장 읽기](https://book/ko/04_attention.html) · "
        "[Colab에서 열기](b/assignments/ko/04_attention/one.ipynb)\n\n"
        "●○○ · 약 5분 · 7.5점"
    )
