"""Run a notebook from top to bottom, past its errors."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from autograder.assemble.problems import Problem
from autograder.course import Course, Unit

SECONDS_A_CELL = 300


@dataclass(frozen=True)
class CellError:
    """An error that a cell ended with."""

    cell_id: str
    name: str
    message: str


def run_notebook(notebook: Path, folder: Path) -> list[CellError]:
    """Run a notebook in a folder; return the errors of its cells, in order."""
    loaded = nbformat.read(notebook, as_version=4)
    NotebookClient(
        loaded,
        timeout=SECONDS_A_CELL,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return [
        CellError(cell.id, output.ename, output.evalue)
        for cell in loaded.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]


def audit_run(course: Course, unit: Unit) -> list[Problem]:
    """Run a released notebook as it is: it fails, and only with NotImplementedError."""
    notebook = course.release_notebook(unit)
    with tempfile.TemporaryDirectory(prefix="course-run-") as name:
        folder = Path(name) / unit.slug
        shutil.copytree(course.release_dir(unit), folder)
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
        for cell_id in _check_cells(notebook)
        if cell_id not in failed
    ]
    return problems


def _check_cells(notebook: Path) -> list[str]:
    cells = nbformat.read(notebook, as_version=4).cells
    return [
        cell.id
        for cell in cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    ]
