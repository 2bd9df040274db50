"""A kit contains the code of earlier units, and no code that students will write."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from autograder.assemble.assembler import assemble
from autograder.assemble.kit import kit_files, kit_modules
from autograder.course import Course, Unit, load_course

UNITS = load_course().units
BASE = {"", "words", "words.letters"}
# Keep the other packages that a kit imports, torch above all, for the next kit.
IMPORT_KITS = """
import importlib, json, os, sys, traceback
from pathlib import Path

def import_kit(names):
    found = [importlib.import_module(name) for name in sorted(names)]
    own = {name for name in sys.modules if name.split(".")[0] == found[0].__name__}
    assert own == set(names), own
    assert all(Path(m.__file__).is_relative_to(Path.cwd()) for m in found)

start, wrong = Path.cwd(), {}
for slug, names in json.loads(sys.argv[1]):
    os.chdir(start / slug)
    importlib.invalidate_caches()
    try:
        import_kit(names)
        wrong[slug] = ""
    except Exception:
        wrong[slug] = traceback.format_exc()
    package = min(names)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]
print(json.dumps(wrong))
"""


@pytest.mark.parametrize(("number", "more"), [("1", set()), ("2", {"sums"})])
def test_a_kit_holds_what_the_notebook_imports(
    pocket: Course, number: str, more: set[str]
) -> None:
    assert kit_modules(pocket, pocket.unit(number)) == BASE | more


def test_what_the_notebook_does_not_import_stays_out(pocket: Course, edit) -> None:
    edit("solutions/notebooks/02_means/02_means.md", "from pocket import words", "")
    assert kit_modules(pocket, pocket.unit("2")) == {"", "sums"}


def test_what_a_given_module_imports_goes_with_it(pocket: Course, edit) -> None:
    master = "solutions/notebooks/02_means/02_means.md"
    edit(master, "from pocket.sums import add_up, double", "add_up = double = None")
    edit(
        "solutions/pocket/words/letters.py",
        '"""Letters."""',
        '"""Letters."""\n\nif False:\n    from ..sums import add_up\n',
    )
    assert kit_modules(pocket, pocket.unit("2")) == BASE | {"sums"}


def test_a_unit_without_a_master_has_an_empty_kit(pocket: Course) -> None:
    assert kit_modules(pocket, pocket.unit("3")) == {""}


def test_an_import_inside_a_function_counts(pocket: Course, edit) -> None:
    edit("solutions/pocket/words/letters.py", '"abc"', "__import__('sums')")
    assert "words.letters" in kit_modules(pocket, pocket.unit("1"))
    edit(
        "solutions/pocket/words/letters.py",
        '"""Letters."""',
        '"""Letters."""\n\nif False:\n    from ..sums import add_up\n',
    )
    # The folder's __init__ imports it, so the folder is left out, too.
    assert kit_modules(pocket, pocket.unit("1")) == {""}


def test_markers_go_and_answers_of_earlier_units_stay(pocket: Course) -> None:
    files = kit_files(pocket, pocket.unit("2"))
    text = files["pocket/sums.py"].decode()
    assert "SOLUTION" not in text
    assert "    total_of_numbers = 0.0\n    for one_number" in text
    ast.parse(text)


def test_data_files_go_with_their_folder(pocket: Course) -> None:
    files = kit_files(pocket, pocket.unit("1"))
    assert files["pocket/words/table.csv"] == b"a,b\n1,2\n"
    assert not [name for name in files if "cli" in name or "__pycache__" in name]


def test_the_kit_is_released_and_importable(pocket: Course) -> None:
    assemble(pocket)
    folder = pocket.release_dir(pocket.unit("2"))
    program = (
        "import pocket, pocket.sums as s; print(pocket.__file__, s.add_up([1, 2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(folder / "pocket" / "__init__.py"), "3.0"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.slug)
def test_real_kits_hold_nothing_of_their_unit_or_later(unit: Unit) -> None:
    course = load_course()
    given = kit_modules(course, unit)
    later = {name for one in UNITS if one.number >= unit.number for name in one.modules}
    assert later
    assert not given & later
    assert not {"cli", "__main__"} & given
    assert "" in given


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Import each real kit separately, all in one process, and return the failures."""
    course, folder, kits = load_course(), tmp_path_factory.mktemp("kits"), []
    for unit in UNITS:
        for name, content in kit_files(course, unit).items():
            path = folder / unit.slug / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        names = [f"{course.package}.{n}".rstrip(".") for n in kit_modules(course, unit)]
        kits.append([unit.slug, names])
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_KITS, json.dumps(kits)],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.integration
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.slug)
def test_real_kits_import_from_themselves_alone(
    unit: Unit, imported: dict[str, str]
) -> None:
    assert imported[unit.slug] == ""
