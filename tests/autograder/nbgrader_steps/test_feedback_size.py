"""The feedback of the longest units stays small, even with many mistakes."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import load_course

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
MOST = 60_000  # bytes
STUB = re.compile(r"^( *)raise NotImplementedError\(.*\)$", re.MULTILINE)
WRONG = r"\1import torch\n\1return torch.zeros(2, 3)"


def test_a_page_on_which_all_is_wrong_is_small(tmp_path: Path) -> None:
    course, number = load_course(), "13"  # the unit with the longest page
    unit = course.unit(number)
    shutil.copy(course.root / "nbgrader_config.py", tmp_path)
    for student in ("untouched", "wrong"):
        notebook = nbformat.read(course.release_notebook(unit), as_version=4)
        for cell in notebook.cells:
            own = cell.metadata.get("nbgrader", {})
            if student == "wrong" and own.get("solution"):
                is_code = cell.cell_type == "code"
                answer = "What I think of it. " * 40
                cell.source = STUB.sub(WRONG, cell.source) if is_code else answer
        place = tmp_path / "submitted" / student / unit.slug / f"{unit.slug}.ipynb"
        place.parent.mkdir(parents=True)
        nbformat.write(notebook, place)
    words = ["grade", number, "--course-root", str(tmp_path), "--workers", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    pages = sorted((tmp_path / "feedback").rglob("*.html"))
    assert [path.parts[-3] for path in pages] == ["untouched", "wrong"]
    assert "✗ failed" in pages[1].read_text("utf-8")
    assert [path for path in pages if path.stat().st_size > MOST] == []
