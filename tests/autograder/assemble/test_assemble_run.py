"""Released notebooks lack only the answers, and answer notebooks pass."""

from __future__ import annotations

import gc
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from course_units import one_unit_or_all
from nbformat.v4 import new_code_cell

from autograder.assemble import run_notebook as running
from autograder.assemble.assembler import assemble
from autograder.assemble.problems import Problem
from autograder.assemble.run_notebook import run_notebook
from autograder.course import Course, Unit, load_course

# No test looks at the quality of unit 13's model, so a short training is enough.
SHORTER = {
    "transformer/experiments/capstone.py": {
        "epoch_steps=160": "epoch_steps=2",
        "whole.test[:300]": "whole.test[:30]",
    }
}

pytestmark = [
    pytest.mark.integration,
    # jupyter_client and zmq warn about this machine's event loop and sockets.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limit the kernels to one thread, and give them as much time as they need.

    This fixture removes what is left of the kernels while it ignores warnings about
    them. Otherwise, the warnings would appear in a later test.
    """
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(running, "SECONDS_A_CELL", 3600)
    yield
    gc.collect()


def shorten(folder: Path) -> None:
    """Make a copied kit train and translate with fewer steps."""
    for name, changes in SHORTER.items():
        module = folder / name
        if not module.is_file():
            continue
        text = module.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert text.count(old) == 1, f"{name} no longer says {old}, once"
            text = text.replace(old, new)
        module.write_text(text, encoding="utf-8")


def problems_of_run(course: Course, unit: Unit) -> list[Problem]:
    """Run a released notebook, which must fail with NotImplementedError only."""
    notebook = course.release_notebook(unit)
    with tempfile.TemporaryDirectory(prefix="course-run-") as name:
        folder = Path(name) / unit.slug
        shutil.copytree(course.release_dir(unit), folder)
        shorten(folder)
        errors = run_notebook(notebook, folder)
    where = notebook.relative_to(course.root).as_posix()
    problems = [
        Problem(
            f"{where} (cell '{error.cell_id}')",
            f"fails with {error.name}: {error.message}",
            "let it need nothing that an earlier cell makes with the student's code",
        )
        for error in errors
        if error.name != "NotImplementedError"
    ]
    failed = {error.cell_id for error in errors}
    problems += [
        Problem(
            f"{where} (cell '{cell_id}')",
            "the visible check passes with nothing written",
            "let it call what the student writes",
        )
        for cell_id in check_cells(notebook)
        if cell_id not in failed
    ]
    return problems


def check_cells(notebook: Path) -> list[str]:
    cells = nbformat.read(notebook, as_version=4).cells
    return [
        cell.id
        for cell in cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    ]


def test_what_a_released_notebook_may_not_do(pocket: Course, edit) -> None:
    master = "solutions/notebooks/01_sums/01_sums.md"
    edit(master, ":setup:\n```", "from pocket.words import ALPHABET\n```")
    edit(master, 'print("plain")', "print(total)")
    edit(master, 'assert add_up([1.0, 2.0]) == 3.0, "1 and 2 make 3"', "total = 3.0")
    assemble(pocket)
    problems = problems_of_run(pocket, pocket.unit("1"))
    assert [problem.what for problem in problems] == [
        "the visible check passes with nothing written"
    ]
    edit(master, "total = 3.0", "total = add_up([1.0, 2.0])")
    assemble(pocket)
    problems = problems_of_run(pocket, pocket.unit("1"))
    assert [problem.what for problem in problems] == [
        "fails with NameError: name 'total' is not defined"
    ]


@pytest.mark.parametrize("unit", one_unit_or_all())
def test_released_notebooks_fail_only_for_want_of_answers(unit: Unit) -> None:
    problems = problems_of_run(load_course(), unit)
    assert not problems, "\n".join(map(str, problems))


def with_checks_again(notebook: Path, folder: Path) -> Path:
    """Copy a notebook, and repeat its checks at the end, in reverse and shuffled."""
    loaded = nbformat.read(notebook, as_version=4)
    ids = check_cells(notebook)
    sources = {cell.id: cell.source for cell in loaded.cells}
    for turn, order in enumerate((ids[::-1], random.sample(ids, len(ids)))):
        loaded.cells += [
            new_code_cell(sources[one], id=f"{one}-{turn}") for one in order
        ]
    copy = folder / notebook.name
    nbformat.write(loaded, copy)
    return copy


@pytest.mark.parametrize("unit", one_unit_or_all())
def test_answer_notebooks_and_their_checks_in_any_order_run(
    unit: Unit, tmp_path: Path
) -> None:
    course = load_course()
    shutil.copytree(course.package_dir, tmp_path / course.package)
    shorten(tmp_path)
    notebook = with_checks_again(course.answer_notebook(unit), tmp_path)
    assert run_notebook(notebook, tmp_path) == []
