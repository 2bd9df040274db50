"""A new exercise or unit works at once, and overwrites no existing file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import autograder.course
from autograder.commands.app import app
from autograder.course import Course, load_course

REPOSITORY = Path(__file__).resolve().parents[3]
TINY = REPOSITORY / "tests" / "autograder" / "tiny_course"
COMMANDS = """
from autograder.commands.app import app

app("new-unit 14 short_sums --title Sums".split(), standalone_mode=False)
app("new-exercise 04 double-scores".split(), standalone_mode=False)
app("notebooks 04 14".split(), standalone_mode=False)
app("verify 04 --only double-scores --workers 1".split(), standalone_mode=False)
app("verify 14 --workers 1".split(), standalone_mode=False)
"""
CHANGED = {
    "autograder/checks/test_01_tiny.py",
    "autograder/proof/variants/unit_01_tiny.py",
    "solutions/hints/01_tiny.toml",
    "solutions/notebooks/01_tiny/01_tiny.md",
    "solutions/tiny/scaling.py",
}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Make the command work on a copy of the tiny course."""
    root = tmp_path / "course"
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(autograder.course, "ROOT", root)
    return load_course(root)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, words)
    return done.exit_code, " ".join(done.output.split())


def copy_repository(target: Path) -> None:
    """Copy the code, the masters and the answers, but no generated notebooks."""
    ignored = shutil.ignore_patterns("__pycache__", "*.ipynb", "*.safetensors")
    for name in ("autograder", "solutions"):
        shutil.copytree(REPOSITORY / name, target / name, ignore=ignored)


@pytest.mark.slow
@pytest.mark.integration
def test_a_new_unit_and_a_new_exercise_work_at_once(tmp_path: Path) -> None:
    copy_repository(tmp_path)
    found = os.pathsep.join([str(tmp_path), str(tmp_path / "solutions")])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": found, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("1 wrong and 1 right variants: none misjudged.") == 2
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    for words in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "autograder", "solutions"]
        style = subprocess.run(ruff, cwd=tmp_path, capture_output=True, check=False)
        assert style.returncode == 0, style.stdout.decode()


def test_only_the_giver_of_the_points_changes(
    tiny: Course, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    before = contents(tiny.root)
    status, said = run("new-exercise", "01", "twice-it", "--points", "15")
    assert (status, "scaler gave 15 of its points and has 25 now." in said) == (0, True)
    after = contents(tiny.root)
    assert {name for name in after if after[name] != before.get(name)} == CHANGED
    for name in CHANGED & before.keys():
        kept = before[name].decode().replace(":points: 40", ":points: 25").splitlines()
        new = iter(after[name].decode().splitlines())
        assert all(line in new for line in kept), name  # the old lines in their order


def test_the_new_section_is_the_last_exercise(tiny: Course) -> None:
    run("new-exercise", "01", "twice-it")
    text = tiny.master(tiny.unit("1")).read_text("utf-8")
    places = [text.index(one) for one in (":check: scaler", "## Twice it", "## Why?")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["double"], "'double' exists already in solutions/notebooks/01_tiny/01_tiny"),
        (["why"], "'why' exists already in solutions/notebooks/01_tiny/01_tiny.md"),
        (["forward"], "'forward' exists already in solutions/tiny/scaling.py"),
        (["Twice"], "the name 'Twice' is not allowed: use lower-case letters"),
        (["2-heads"], "the name '2-heads' is not allowed"),
        (["twice-check"], "without -check at the end"),
        (["class"], "'class' is a word of Python: choose another name"),
        (["sum"], "'sum' is a word of Python: choose another name"),
        (["twice", "--points", "40"], "expected more than 0 and less than 40"),
        (["twice", "--module", "basis"], "01_tiny has no module 'basis': it has sca"),
    ],
)
def test_a_name_that_is_taken_or_not_allowed_changes_nothing(
    tiny: Course,
    contents: Callable[[Path], dict[str, bytes]],
    words: list[str],
    said: str,
) -> None:
    before = contents(tiny.root)
    status, output = run("new-exercise", "01", *words)
    assert (status, said in output) == (2, True), output
    assert output.endswith("Nothing was changed.")
    assert contents(tiny.root) == before


def test_the_same_exercise_twice_is_refused(tiny: Course) -> None:
    assert run("new-exercise", "01", "twice-it")[0] == 0
    status, output = run("new-exercise", "01", "twice-it")
    assert (status, "'twice-it' exists already in" in output) == (2, True)


def test_a_missing_import_is_named(tiny: Course) -> None:
    path = tiny.checks_file(tiny.unit("1"))
    path.write_text(path.read_text("utf-8").replace("expect_close", "expect_equal"))
    status, output = run("new-exercise", "01", "twice-it")
    assert (status, "test_01_tiny.py lacks expect_close: import" in output) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["1", "sums", "--title", "Sums"], "01_tiny exists already"),
        (["2", "tiny", "--title", "Tiny"], "01_tiny exists already"),
        (["2", "sums", "--title", "Sums"], "no folder solutions/tiny/experiments"),
        (["2", "Sums", "--title", "Sums"], "the name 'Sums' is not allowed"),
        (["2", "sums", "--title", 'A "sum"'], "write words, no quotes"),
        (["2", "sums", "--title", "Sums", "--module", "basis"], "basis.py exists alr"),
        (["2", "sums", "--title", "Sums", "--module", "../a"], "write FOLDER.MODULE"),
    ],
)
def test_a_unit_that_exists_or_is_not_allowed_changes_nothing(
    tiny: Course,
    contents: Callable[[Path], dict[str, bytes]],
    words: list[str],
    said: str,
) -> None:
    before = contents(tiny.root)
    status, output = run("new-unit", *words)
    assert (status, said in output) == (2, True), output
    assert contents(tiny.root) == before


def test_a_new_unit_is_added_to_the_settings(tiny: Course) -> None:
    status, output = run("new-unit", "2", "sums", "--title", "Sums", "--module", "sums")
    assert (status, "verify 02 --only sums" in output) == (0, True)
    unit = load_course(tiny.root).unit("02")
    assert (unit.slug, unit.title, unit.modules) == ("02_sums", "Sums", ("sums",))
