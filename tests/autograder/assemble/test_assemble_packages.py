"""Notebooks and kits run with only the packages that `course.toml` names."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from distributions import modules_outside

from autograder.course import Unit, load_course

COURSE = load_course()
BLOCK = """
import ast, importlib, json, pathlib, pkgutil, sys

for name in json.loads(sys.argv[1]):
    sys.modules[name] = None  # importing it raises ModuleNotFoundError

def sources(notebook):
    cells = json.loads(pathlib.Path(notebook).read_text("utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
"""
IMPORTS = """
for notebook, kit in json.loads(sys.argv[2]):
    for name in [n for n in sys.modules if n.split(".")[0] == "transformer"]:
        del sys.modules[name]
    sys.path[0] = kit
    for source in sources(notebook):
        tree = ast.parse(source)
        kinds = ast.Import | ast.ImportFrom
        tree.body = [line for line in tree.body if isinstance(line, kinds)]
        exec(compile(tree, notebook, "exec"))
    import transformer
    assert transformer.__file__.startswith(kit), transformer.__file__
    for module in pkgutil.walk_packages(transformer.__path__, "transformer."):
        importlib.import_module(module.name)
"""
EVERYTHING = """
((notebook, kit),) = json.loads(sys.argv[2])
sys.path[0] = kit
for source in sources(notebook):
    exec(source)
"""


def run(program: str, units: list[Unit], folder: Path) -> str:
    """Run a program on answer notebooks next to their kits, and return its output."""
    packages = {name for unit in units for name in COURSE.packages_of(unit)}
    blocked = modules_outside((*packages, "ipython")) - {"transformer"}
    assert {"torchtext", "sentencepiece", "safetensors", "pytest"} <= blocked
    places = [
        (str(COURSE.answer_notebook(unit)), str(COURSE.release_dir(unit)))
        for unit in units
    ]
    arguments = [json.dumps(sorted(blocked)), json.dumps(places)]
    command = [sys.executable, "-c", BLOCK + program, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.integration
def test_units_01_to_12_import_torch_numpy_and_matplotlib(tmp_path: Path) -> None:
    units = [unit for unit in COURSE.units if unit.number <= 12]
    packages = {name for unit in units for name in COURSE.packages_of(unit)}
    assert packages == {"torch", "numpy", "matplotlib"}
    run(IMPORTS, units, tmp_path)


@pytest.mark.integration
def test_unit_13_imports_what_it_names(tmp_path: Path) -> None:
    run(IMPORTS, [COURSE.unit("13")], tmp_path)


@pytest.mark.integration
def test_unit_04_needs_no_other_package_to_the_end(tmp_path: Path) -> None:
    output = run(EVERYTHING, [COURSE.unit("04")], tmp_path)
    assert output.startswith("04_attention is set up: PyTorch ")
    assert output.rstrip().endswith("04_attention.ipynb.")
