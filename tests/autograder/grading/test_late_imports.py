"""Children inherit what every submission imports, and not what few ask for."""

from pathlib import Path

from autograder.course import load_course
from autograder.grading.late_imports import late_imports
from autograder.sandbox.kit import foreign_imports
from autograder.sandbox.student_side.cells import CellRunner
from autograder.sandbox.student_side.fork_server import REHEARSAL
from autograder.unit import cells_to_run, graded_unit

KIT = """
import json
from collections import abc

class Reader:
    import zlib

    def read(self):
        import spacy
        import json
        from heavy.part import thing
        import asked

async def later():
    from . import sibling
    from late import one
"""


def late_in(folder: Path, *cells: str) -> set[str]:
    (folder / "kit").mkdir()
    (folder / "kit" / "module.py").write_text(KIT)
    (folder / "other.py").write_text("import asked\n")
    return late_imports(folder, cells)


def test_what_only_functions_import_is_late(tmp_path):
    assert late_in(tmp_path) == {"spacy", "heavy.part", "late"}


def test_what_the_notebook_imports_is_not_late(tmp_path):
    cells = ["import late", "def f():\n    import spacy\n", "this is no Python"]
    assert late_in(tmp_path, *cells) == {"heavy.part"}


def test_no_unit_makes_every_child_hold_the_tokenizers_library():
    for unit in load_course().units:
        graded = graded_unit(unit.slug)
        cells = cells_to_run(graded.released)
        late = late_imports(graded.kit, cells)
        assert "spacy" not in set(foreign_imports(graded.kit, cells)) - late
        assert not {name for name in late if name.startswith(("torch", "numpy"))}


def test_the_rehearsal_leaves_no_name_behind():
    runner = CellRunner()
    before = dict(runner.namespace)
    assert runner.run(0, REHEARSAL) == {"outputs": [], "error": None}
    assert runner.namespace == before
