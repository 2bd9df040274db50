"""Setting up says at once, in one sentence, what a machine lacks."""

import ast
import os
import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from autograder.commands import set_up

SCRIPT = Path(set_up.__file__)
ROOT = set_up.ROOT


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course without `.venv` and MathJax, on a machine without any program."""
    for name in (*set_up.DECIDING, "book/fetch_mathjax.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    monkeypatch.setattr(set_up, "INSTALLED", tmp_path / ".venv" / "installed")
    monkeypatch.setattr(sys, "argv", ["set_up.py"])
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_an_old_python_is_refused_in_one_sentence(bare, monkeypatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SystemExit) as left:
        set_up.main()
    words = str(left.value)
    assert "needs Python 3.11 or later" in words
    assert "is Python 3.9" in words
    assert "PYTHON=python3.12" in words
    assert words.count("\n") == 0


def test_every_pinned_version_runs_on_the_oldest_python() -> None:
    """Else pip says "ResolutionImpossible", and nobody knows why."""
    oldest = ".".join(map(str, [*set_up.OLDEST, 0]))
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    refused = {
        found.name: found.metadata.get("Requires-Python")
        for found in distributions()
        if f"{found.name}=={found.version}".lower().replace("_", "-") in pinned(lines)
        and oldest not in SpecifierSet(found.metadata.get("Requires-Python") or "")
    }
    assert refused == {}


def pinned(lines: list[str]) -> set[str]:
    return {line.lower().replace("_", "-") for line in lines}


def test_no_newer_python_is_refused() -> None:
    assert set_up.too_old(set_up.OLDEST, "python3") == ""
    assert set_up.too_old((4, 0, 0), "python3") == ""


def test_an_old_python_can_read_the_script() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))


def test_a_missing_npm_is_said_before_anything_is_installed(bare, capfd) -> None:
    with pytest.raises(SystemExit) as left:
        set_up.main()
    assert left.value.code == 2
    text, errors = capfd.readouterr()
    assert errors.startswith("npm was not found") and "Install Node.js" in errors
    assert text == "" and errors.count("\n") == 1
    assert not (bare / ".venv").exists()


def test_what_is_installed_is_installed_again_after_a_change(bare, monkeypatch) -> None:
    assert not set_up.is_installed()
    set_up.INSTALLED.parent.mkdir()
    set_up.INSTALLED.touch()
    monkeypatch.setattr(set_up, "PYTHON", set_up.INSTALLED)
    assert set_up.is_installed()
    later = set_up.INSTALLED.stat().st_mtime + 1
    os.utime(bare / "constraints.txt", (later, later))
    assert not set_up.is_installed()
