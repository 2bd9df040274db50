"""Readers and students can do everything without Unix's modules, as on Windows."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import load_course

WITHOUT_UNIX = Path(__file__).with_name("without_unix.py")
COURSE = load_course()
IMPORT_ALL = """
import importlib, pkgutil, sys, transformer
for module in pkgutil.walk_packages(transformer.__path__, "transformer."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("all imported")
"""
RUN_CELLS = """
import json, pathlib, sys
notebook, sys.path[0] = sys.argv[1:]
for cell in json.loads(pathlib.Path(notebook).read_text("utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]))
"""
pytestmark = pytest.mark.integration


def run(folder: Path, *command: object, program: str = "") -> tuple[int, str]:
    """Run a program, a file or `-m MODULE` there, and return its status and output."""
    if program:
        file = folder / "program.py"
        file.write_text(program, encoding="utf-8")
        command = (file, *command)
    done = subprocess.run(
        [sys.executable, WITHOUT_UNIX, *map(str, command)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "line",
    ["import fcntl", "from resource import getrlimit", "from os import fork"],
)
def test_what_needs_unix_is_seen(tmp_path: Path, line: str) -> None:
    status, words = run(tmp_path, program=line)
    assert status == 1 and "Error: " in words


def test_all_of_the_package_is_imported(tmp_path: Path) -> None:
    assert run(tmp_path, program=IMPORT_ALL) == (0, "all imported\n")


def test_a_units_cells_and_visible_checks_run(tmp_path: Path) -> None:
    unit = COURSE.unit("04")
    places = (COURSE.answer_notebook(unit), COURSE.release_dir(unit))
    status, words = run(tmp_path, *places, program=RUN_CELLS)
    assert status == 0, words
    assert words.startswith("04_attention is set up: PyTorch ")
    assert words.rstrip().endswith("04_attention.ipynb.")


def test_the_command_line_trains_and_translates(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    few = ("--config", "tiny", "--epochs", 1, "--epoch-steps", 2)
    status, words = run(tmp_path, "-m", "transformer", "train", *few, *out)
    assert status == 0, words
    status, words = run(tmp_path, "-m", "transformer", "translate", *out, "die frau .")
    assert status == 0 and words.strip(), words


def course(folder: Path, *words: str) -> tuple[int, str]:
    program = "from autograder.__main__ import main; main()"
    return run(folder, *words, program=program)


@pytest.mark.parametrize("command", ["grade", "grade --unprotected", "verify 04"])
def test_grading_says_which_systems_it_needs(tmp_path: Path, command: str) -> None:
    status, words = course(tmp_path, *command.split())
    assert status == 2
    assert words.startswith("Nothing was graded: submissions run on Linux and macOS")
    assert words.count("\n") == 1


def test_a_parent_of_submissions_gives_the_same_reason(tmp_path: Path) -> None:
    program = "from autograder.sandbox import prestart\nprestart.own_parent()"
    status, words = run(tmp_path, program=program)
    assert status == 1 and "NoParent: submissions run on Linux and macOS" in words
