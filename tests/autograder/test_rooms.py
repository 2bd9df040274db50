"""The rooms of the autograder that decide scores, and those that collecting needs."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.classroom.fingerprint import (
    AUTOGRADER,
    DECIDING,
    NOT_DECIDING,
    deciding_files,
    fingerprint_of_code,
)

# Imports of deciding code from the other rooms: where a unit's files are, how nbgrader
# releases, how it opens the gradebook, how much late work costs, how a file is written,
# and in which words.
ONLY_FOUND_BY = {"course", "assemble", "gradebook", "translations", "atomic_write"}
ONLY_FOUND_BY |= {"late_rule"}


def entries(home: Path) -> Iterator[str]:
    """Yield every room, and every file next to the rooms or in `classroom/`."""
    for path in [*home.iterdir(), *(home / "classroom").iterdir()]:
        is_room = path.is_dir() and path.name not in ("__pycache__", "classroom")
        if is_room or path.suffix == ".py":
            yield path.relative_to(home).as_posix()


def test_each_room_is_said_to_decide_scores_or_not_to() -> None:
    assert sorted(entries(AUTOGRADER)) == sorted([*DECIDING, *NOT_DECIDING])


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(AUTOGRADER, tmp_path_factory.mktemp("copy") / "autograder")


@pytest.mark.parametrize("name", [*DECIDING, *NOT_DECIDING])
def test_an_edit_grades_a_class_again_where_scores_are_decided(
    name: str, copy: Path
) -> None:
    before = fingerprint_of_code(copy)
    place = copy / name
    files = [path for path in place.rglob("*") if path.suffix in (".py", ".j2")]
    for path in files or [place]:
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert (fingerprint_of_code(copy) != before) == (name in DECIDING), path
        path.write_bytes(content)


def test_an_edit_of_the_answers_grades_a_class_again(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    answer = tmp_path / "answers" / "attention.py"
    answer.write_text("x = 1\n")
    before = fingerprint_of_code(package=tmp_path / "answers")
    answer.write_text("x = 2\n")
    assert fingerprint_of_code(package=tmp_path / "answers") != before


def imported(path: Path) -> Iterator[str]:
    """Yield the rooms and files of the autograder that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            first, *rest = node.module.split(".")
            if first == "autograder" and rest:
                yield "/".join(rest[:2]) if rest[0] == "classroom" else rest[0]


def test_what_decides_imports_only_what_decides() -> None:
    known = {name.removesuffix(".py") for name in DECIDING} | ONLY_FOUND_BY
    for path in deciding_files():
        assert set(imported(path)) <= known, path


def loaded_after(code: str) -> set[str]:
    """Return the modules that a new process has imported after running `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


GRADES = {
    "checking",
    "grading",
    "proof",
    "sandbox.submission_proxy",
    "sandbox.fork_server_client",
}


@pytest.mark.integration
@pytest.mark.parametrize(
    ("module", "more"),
    [
        ("autograder.collect", {"assemble", "nbgrader_steps"}),
        ("autograder.nbgrader_steps.settings", {"nbgrader_steps.autograde"}),
    ],
)
def test_collecting_imports_nothing_that_grades(module: str, more: set[str]) -> None:
    loaded = loaded_after(f"import {module}")
    assert module in loaded
    heavy = {f"autograder.{room}" for room in GRADES | more} | {"torch"}
    assert not loaded & heavy
