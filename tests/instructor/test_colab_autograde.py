"""The notebook that grades on Colab runs, and continues after an interruption."""

import csv
import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from lms_archives import UNIT, archive, as_colab_saves
from typer.testing import CliRunner

from autograder.assemble.run_notebook import execute
from autograder.classroom import on_drive
from autograder.commands.app import app
from autograder.course import load_course
from autograder.proof.sample_class import SampleClass
from autograder.publish.colab_notebook import colab_notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "autograder" / "colab_autograde.ipynb"
STUDENTS = {"Ada Lovelace": "perfect-one", "Emmy Noether": "mistake-1",
            "Niels Abel": "untouched", "Alan Turing": "half-done"}  # fmt: skip
ONE_WORKER = {"grade": ["--workers", "1"], "collect": [], "report": []}
MOUNT = """
def mount(folder):
    import pathlib
    assert pathlib.Path(folder, "MyDrive").is_dir()
    print("Mounted at", folder)
"""
pytestmark = pytest.mark.slow


@pytest.fixture
def scores(tiny_root: Path) -> dict[str, float]:
    """Return the score that each student must get."""
    given = {one.student: one.score for one in SampleClass(UNIT, tiny_root).samples()}
    return {who.lower().replace(" ", "-"): given[s] for who, s in STUDENTS.items()}


@pytest.fixture
def home(tiny_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make Colab's /content, with a Drive that contains the course."""
    home = tmp_path / "content"
    drive = home / "drive" / "MyDrive" / "course"
    (drive / "submissions").mkdir(parents=True)
    shutil.make_archive(str(drive / "private"), "zip", tiny_root.parent, "course")
    # The class uses the tiny course, because a class's folder may contain its own
    # course.
    shutil.copytree(tiny_root, drive / "class")
    (drive / "class" / "gradebook.db").unlink()
    made = SampleClass(UNIT, tiny_root)
    samples = {one.student: one for one in made.samples()}
    files = [
        (f"{who} - {UNIT}.ipynb",
         as_colab_saves(nbformat.writes(made.notebook(samples[what].answers))))
        for who, what in STUDENTS.items()
    ]  # fmt: skip
    archive(drive / "submissions" / "drive.zip", *files)
    python = home / "grading" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    package = tmp_path / "site" / "google" / "colab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "drive.py").write_text(MOUNT)
    paths = [str(package.parents[1]), str(tiny_root / "solutions"), str(ROOT)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("COURSE_HOME", str(home))
    monkeypatch.setenv("COURSE_UNIT", "01")
    return home


def exported(drive: Path) -> dict[str, float]:
    with (drive / "class" / "grades.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["timestamp"]]
    return {row["student_id"]: round(float(row["score"]), 2) for row in rows}


def test_it_is_made_from_its_master() -> None:
    assert NOTEBOOK.read_text(encoding="utf-8") == colab_notebook(load_course()), (
        "run `course colab-autograde`"
    )
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert notebook.metadata.accelerator == "GPU"
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_it_grades_a_class(home: Path, scores: dict[str, float]) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    execute(notebook, timeout=1200, kernel_name="python3")
    printed = "".join(
        output.get("text", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    drive = home / "drive" / "MyDrive" / "course"
    assert exported(drive) == scores
    for words in ("Mounted at", "Sandbox:", "4 of 4 students are graded", "ada-lov"):
        assert words in printed
    pages = drive / "class" / "feedback"
    assert {page.parents[1].name for page in pages.glob("*/*/*.html")} == set(scores)
    assert (drive / "class" / "gradebook.db").stat().st_size


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_it_goes_on_after_it_was_cut_off(
    home: Path, scores: dict[str, float], monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    drive, work = home / "drive" / "MyDrive" / "course", home / "class"
    graded = []

    def here(*words: object) -> int:
        """Run a command in this process, because starting a new one takes seconds."""
        graded.extend(words[:1] if words[0] == "grade" else [])
        if words[0] == "grade" and len(graded) == 2:
            raise KeyboardInterrupt
        done = CliRunner().invoke(app, [*map(str, words), *ONE_WORKER[words[0]]])
        print(done.output)
        return done.exit_code

    monkeypatch.setattr(on_drive, "run_course", here)
    with pytest.raises(KeyboardInterrupt):
        on_drive.main([str(drive), str(work), "01", "--at-a-time", "2"])
    shutil.rmtree(work)  # the machine was deleted
    capfd.readouterr()
    on_drive.main([str(drive), str(work), "01", "--at-a-time", "2"])
    lines = capfd.readouterr().out.splitlines()
    kept = {line.split(":")[0] for line in lines if "as before" in line}
    assert kept == set(sorted(scores)[:2])
    assert exported(drive) == scores
