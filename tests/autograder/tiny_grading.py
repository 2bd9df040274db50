"""Grade the tiny class, and read the results."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.unit import GradedUnit

UNIT = "01_tiny"
REPOSITORY = Path(__file__).resolve().parents[2]
EXPECTED = {
    "perfect-one": 70.0,
    "perfect-two": 70.0,
    "half-done": 30.0,
    "mistake-1": 56.67,
    "mistake-2": 60.0,
    "mistake-3": 60.0,
    "mistake-4": 56.67,
    "mistake-5": 40.0,
    "untouched": 0.0,
    "raising": 30.0,
    "looping": 30.0,
    "damaged": 70.0,
}


def grade(root: Path, *arguments: str):
    return CliRunner().invoke(app, ["grade", "--course-root", str(root), *arguments])


def filled_in(unit: GradedUnit, **answers: str) -> NotebookNode:
    """Return the released notebook with some answers, but without its set-up cell."""
    notebook = unit.released.copy()
    notebook.cells = [
        cell.copy()
        for cell in unit.released.cells
        if "setup" not in cell.metadata.get("tags", [])
    ]
    for cell in notebook.cells:
        if "import FACTOR" in cell.source:
            cell.source = "import torch\nfrom torch import Tensor, nn\nFACTOR = 2"
        elif cell.cell_type == "code":
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            cell.source = answers.get(grade_id, cell.source)
    return notebook


def scores(root: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            item.student.id: round(item.score, 2)
            for item in gradebook.assignment_submissions(UNIT)
        }


def submission(root: Path, student: str) -> Path:
    return root / "submitted" / student / UNIT / f"{UNIT}.ipynb"


def only(root: Path, *students: str) -> None:
    for folder in (root / "submitted").iterdir():
        if folder.is_dir() and folder.name not in students:
            shutil.rmtree(folder)


def cells(root: Path) -> dict[tuple[str, str], tuple]:
    """Return all marks in the gradebook for each student's cell."""
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            (item.student.id, grade.name): (
                grade.auto_score,
                grade.manual_score,
                grade.needs_manual_grade,
            )
            for item in gradebook.assignment_submissions(UNIT)
            for notebook in item.notebooks
            for grade in notebook.grades
        }


def checks(root: Path, student: str) -> list:
    """Return an autograded notebook's messages about each check and about limits."""
    path = root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
    record = json.loads(path.read_text())["metadata"]["course_grading"]
    found = [record["checks"], record["limits_hit"], record["doubtful"]]
    return without_times(found)


def without_times(found: Any) -> Any:
    """Leave out time limits, because they are longer on a crowded machine."""
    return json.loads(re.sub(r"stopped after [\d.]+ s", "stopped", json.dumps(found)))


def nbgrader(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run a command of nbgrader in a class's folder."""
    paths = os.pathsep.join([str(REPOSITORY), str(root / "solutions")])
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=1200,  # only hanging fails, not slowness
    )
