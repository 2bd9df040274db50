"""The grader grades a translated notebook like the original, in its language."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from tiny_grading import EXPECTED, cells, grade, only, scores, submission

from autograder.course import load_course
from autograder.grading.language import in_language_of, language_of
from autograder.grading.submission import grade_submission
from autograder.nbgrader_steps.feedback_words import translate_checks
from autograder.proof.sample_class import SampleClass
from autograder.repair import read_submission
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.translations.notebooks import translated
from autograder.translations.pseudolocalize import pseudolocalized
from autograder.unit import GradedUnit, Submission, graded_unit

UNIT = "01_tiny"


class Everything(dict[str, str]):
    """A catalogue that contains every text."""

    def get(self, text: str, default: object = None) -> str:  # type: ignore[override]
        return pseudolocalized(text, with_fields=True)


def in_korean(notebook: NotebookNode) -> NotebookNode:
    return translated(notebook, UNIT, Everything(), Everything())


def with_translation(root: Path) -> GradedUnit:
    """Give the tiny course's unit a Korean notebook."""
    course = load_course(root)
    path = course.translated_notebook(course.unit(UNIT), "ko")
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(in_korean(graded_unit(UNIT, root).released)))
    return graded_unit(UNIT, root)


@pytest.fixture
def unit(tiny_class: Path) -> GradedUnit:
    """Return the tiny course's unit, which has a Korean notebook."""
    return with_translation(tiny_class)


def hand_in(notebook: NotebookNode, folder: Path, student: str) -> Submission:
    path = folder / student / UNIT / f"{UNIT}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(notebook))
    return Submission(student, UNIT, path)


def test_the_language_is_that_of_what_was_left_as_it_was(
    unit: GradedUnit, tmp_path: Path
) -> None:
    english = hand_in(unit.released, tmp_path, "one")
    korean = hand_in(in_korean(unit.released), tmp_path, "two")
    assert in_language_of(unit, read_submission(english.path)) is unit
    chosen = in_language_of(unit, read_submission(korean.path))
    assert language_of(chosen.released) == "ko" and language_of(unit.released) is None
    assert chosen.points == unit.points


def test_without_a_korean_edition_there_is_one(tiny_unit: GradedUnit) -> None:
    assert in_language_of(tiny_unit, []) is tiny_unit


@pytest.mark.integration
def test_both_editions_get_the_same_points(
    unit: GradedUnit, tiny_class: Path, tmp_path: Path, parent: ForkServerClient
) -> None:
    samples = SampleClass(UNIT, tiny_class)
    for sample in samples.samples():
        if sample.student in ("perfect-one", "half-done", "mistake-1", "untouched"):
            notebook = samples.notebook(sample.answers)
            one = hand_in(notebook, tmp_path / "en", sample.student)
            other = hand_in(in_korean(notebook), tmp_path / "ko", sample.student)
            english, korean = (
                grade_submission(unit, submission, parent=parent)
                for submission in (one, other)
            )
            assert korean.status == "graded" and english.score == sample.score
            assert [vars(x) for x in korean.results] == [
                vars(x) for x in english.results
            ]
            assert korean.unwritten == english.unwritten
            assert not [note for note in korean.notes if "changed" in note]
            assert korean.notebook is not None
            assert language_of(korean.notebook) == "ko"
            told = [x.title for x in korean.results]
            translate_checks(korean.notebook, {t: "말" for t in told})
            text = nbformat.writes(korean.notebook)
            assert all(title not in text for title in told)


def test_without_the_korean_notebook_the_english_one_does(
    unit: GradedUnit, tmp_path: Path
) -> None:
    shutil.rmtree(unit.kit.parent / "ko")
    korean = hand_in(in_korean(unit.released), tmp_path, "two")
    assert in_language_of(unit, read_submission(korean.path)) is unit


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_what_was_handed_out_in_korean_stays_korean_when_nbgrader_grades(
    classroom: Path,
) -> None:
    unit = with_translation(classroom)
    only(classroom, "untouched", "mistake-1")
    for student in ("untouched", "mistake-1"):
        path = submission(classroom, student)
        path.write_text(nbformat.writes(in_korean(nbformat.read(path, 4))))
    assert grade(classroom).exit_code == 0
    ours = {cell.source for cell in in_korean(unit.released).cells}
    path = classroom / "autograded" / "mistake-1" / UNIT / f"{UNIT}.ipynb"
    locked = [
        cell.source
        for cell in nbformat.read(path, 4).cells
        if cell.metadata.get("nbgrader", {}).get("locked")
    ]
    assert len(locked) > 2 and set(locked) <= ours
    marks = cells(classroom)  # untouched: no points, as in English
    assert marks["untouched", "why"] == (0.0, None, False)
    assert marks["mistake-1", "why"] == (None, None, True)
    found = scores(classroom)
    assert found == {who: EXPECTED[who] for who in ("untouched", "mistake-1")}
