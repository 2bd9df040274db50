"""The record of a proof holds until something changes that the proof rests on."""

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.course import Course, load_course
from autograder.proof import record as records
from autograder.proof.judging import Tally
from autograder.unit import course_of, is_graded_code, is_run

REPOSITORY = load_course().root


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Copy what the record of unit 04 rests on."""
    for name in ("autograder", "solutions", "assignments/04_attention"):
        leave_out = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=leave_out)
    return course_of(tmp_path)


@pytest.fixture
def recorded(course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    ours = records.files_that_judge(load_course(), load_course().unit("04"))
    monkeypatch.setattr(records, "_files_by_themselves", lambda *_: ours)
    records.record(course, course.unit("04"), [Tally("mask-scores", [])], 50)
    return course


def found(course: Course) -> records.Found | None:
    return records.found_before(course, course.unit("04"))


def test_what_is_recorded_is_found_again(recorded: Course) -> None:
    known = found(recorded)
    assert known is not None and known.seeds == 50
    assert known.exercises == {"mask-scores": {"wrong": 0, "named": 0, "right": 0}}


@pytest.mark.parametrize(
    "changed",
    [
        "autograder/checks/test_04_attention.py",
        "autograder/proof/variants/unit_04_attention.py",
        "autograder/checking/expect.py",
        "autograder/grading/points.py",
        "autograder/sandbox/student_side/watching.py",
        "solutions/transformer/attention.py",
    ],
)
def test_a_change_of_what_decides_ends_it(recorded: Course, changed: str) -> None:
    place = recorded.root / changed
    place.write_text(place.read_text(encoding="utf-8") + "# changed\n", "utf-8")
    assert found(recorded) is None


def test_a_changed_answer_ends_it(recorded: Course) -> None:
    change_cell(recorded, lambda cell: is_code(cell) and is_run(cell))
    assert found(recorded) is None


def test_changed_points_end_it(recorded: Course) -> None:
    path = recorded.answer_notebook(recorded.unit("04"))
    notebook = nbformat.read(path, as_version=4)
    graded = next(cell for cell in notebook.cells if is_graded_code(cell))
    graded.metadata.nbgrader.points += 1
    nbformat.write(notebook, path)
    assert found(recorded) is None


def test_a_changed_sentence_or_visible_check_does_not(recorded: Course) -> None:
    change_cell(recorded, lambda cell: not is_code(cell))
    change_cell(recorded, is_graded_code)
    path = recorded.release_notebook(recorded.unit("04"))
    notebook = nbformat.read(path, as_version=4)
    graded = next(cell for cell in notebook.cells if is_graded_code(cell))
    graded.metadata.nbgrader.checksum = "of another source"
    nbformat.write(notebook, path)
    assert found(recorded) is not None


def is_code(cell: NotebookNode) -> bool:
    return cell.cell_type == "code"


def change_cell(course: Course, which: Callable[[NotebookNode], bool]) -> None:
    path = course.answer_notebook(course.unit("04"))
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if which(cell)).source += "\n# more"
    nbformat.write(notebook, path)


def test_other_versions_end_it(
    recorded: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "versions", lambda: {"torch": "1.0"})
    assert found(recorded) is None


def test_an_unrecorded_unit_has_none(recorded: Course) -> None:
    assert records.found_before(recorded, recorded.unit("05")) is None
