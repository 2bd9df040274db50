"""Children inherit the imports that every submission needs, and no rare ones."""

from pathlib import Path

from autograder.course import load_course
from autograder.sandbox.kit import foreign_imports
from autograder.unit import cells_to_run, graded_unit

KIT = """
import json
from collections import abc

class Reader:
    def read(self):
        import heavy
"""


def test_what_only_functions_import_is_left_to_them(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "module.py").write_text(KIT)
    cells = ["import early", "def f():\n    import late\n", "this is no Python"]
    assert foreign_imports(tmp_path, cells) == ["collections", "early", "json"]


def test_no_unit_makes_every_child_hold_the_tokenizers_library() -> None:
    for unit in load_course().units:
        graded = graded_unit(unit.slug)
        cells = cells_to_run(graded.released)
        assert "spacy" not in foreign_imports(graded.kit, cells)
