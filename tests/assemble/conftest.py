"""A small course without torch, in a folder of its own for each test."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.course import Course, load_course

collect_ignore = ["pocket_course"]
POCKET = Path(__file__).with_name("pocket_course")


@pytest.fixture
def pocket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Course]:
    """Copy the pocket course, importable, and load it."""
    root = tmp_path / "course"
    shutil.copytree(POCKET, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(str(root / "solutions"))
    yield load_course(root)
    for name in [name for name in sys.modules if name.split(".")[0] == "pocket"]:
        del sys.modules[name]


@pytest.fixture
def edit(pocket: Course) -> Callable[[str, str, str], None]:
    """Replace text in a file of the pocket course."""

    def replace(path: str, old: str, new: str) -> None:
        file = pocket.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace


@pytest.fixture
def contents() -> Callable[[Path], dict[str, bytes]]:
    """Read every file under a folder."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    return read
