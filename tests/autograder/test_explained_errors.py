"""A sentence above Python's own error explains each likely mistake."""

from __future__ import annotations

import linecache
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.assemble.run_notebook import execute
from autograder.course import load_course
from autograder.explained_errors import CAUSES, explanation
from autograder.translations.catalogue import translations
from autograder.translations.sources import ERRORS, locale_dir

COURSE = load_course()
HERE = Path(__file__)
MISTAKES = tomllib.loads(HERE.with_name("mistakes.toml").read_text("utf-8"))
KOREAN = translations(locale_dir(COURSE) / ERRORS)
IMPORTS = """import math, torch
from torch import Tensor, nn
from torch.nn import functional as F"""
# The message of each of these exceptions in a cell is clear enough, or the cause is
# unknown.
SILENT = {
    "a check's words": "assert 1 == 2, 'the `return` is missing'",
    "words of the notebook": "raise ValueError('index 3 is out of range')",
    "words of a function": "def f():\n    raise KeyError('name')\nf()",
    "an unknown message": "import json\njson.loads('{')",
    "no error of a kind that is known": "raise StopIteration",
    "stopped": "raise KeyboardInterrupt",
}


def explained(*cells: str, words: dict[str, str] | None = None) -> str:
    """Run cells, and return the explanation of the last one's error."""
    space: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        name = f"<cell {number} of {abs(hash(cells))}>"
        lines = cell.splitlines(keepends=True)
        linecache.cache[name] = (len(cell), None, lines, name)
        try:
            exec(compile(cell, name, "exec"), space)
        except BaseException as error:
            return explanation(error, space, words or {})  # type: ignore[arg-type]
    raise LookupError("the cells run")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_explained(name: str) -> None:
    one = MISTAKES[name]
    said = explained(IMPORTS, one["cell"], one["run"])
    assert said.startswith(one["said"])
    korean = explained(IMPORTS, one["cell"], one["run"], words=KOREAN)
    assert not re.search(r"[a-z]{3,} [a-z]{3,}", re.sub("`[^`]*`", "", korean))


@pytest.mark.parametrize("cell", SILENT.values(), ids=SILENT)
def test_no_guess_is_made(cell: str) -> None:
    assert explained(cell) == ""


def test_an_error_outside_of_the_notebook_is_left_alone() -> None:
    try:
        int("seven")
    except ValueError as error:
        assert explanation(error, {}, {}) == ""


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.text[:40])
def test_a_mistake_shows_each_cause(cause: Any) -> None:
    before_field = re.split(r"\{|(?<=\.) ", cause.text)[0]
    assert [name for name, one in MISTAKES.items() if before_field in one["said"]]


def test_functions_that_may_return_none_are_not_blamed() -> None:
    said = explained(
        "def show(x: int) -> None:\n    print(x)",
        "show(1)\n[].append(1).real",
    )
    assert said.startswith("Line 2 of this cell uses `show`: a value on this line")


def test_without_ipython_nothing_happens() -> None:
    folder = COURSE.release_dir(COURSE.unit("04"))
    program = (
        "import sys; from transformer.explained_errors import explain_errors\n"
        "explain_errors('ko'); print('IPython' in sys.modules)\n"
        "None.shape"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True
    )
    assert done.stdout == "False\n"
    assert done.stderr.endswith("'NoneType' object has no attribute 'shape'\n")


def test_the_shell_of_the_grader_is_left_alone() -> None:
    folder = COURSE.release_dir(COURSE.unit("04"))
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "from transformer.explained_errors import explain_errors\n"
        "explain_errors('ko'); print(shell.custom_exceptions)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "()\n", done.stderr


def outputs(language: str, *cells: str) -> list[list[tuple[str, str]]]:
    """Run cells after the set-up cell of unit 04, and return the kernel's output."""
    unit = COURSE.unit("04")
    path = COURSE.release_notebook(unit)
    if language != "en":
        path = COURSE.translated_notebook(unit, language)
    released = nbformat.read(path, as_version=4)
    (setup,) = (cell.source for cell in released.cells if cell.id == "setup")
    notebook = new_notebook(
        cells=[new_code_cell(one) for one in (setup, setup, *cells)]
    )
    place = {"metadata": {"path": str(COURSE.release_dir(unit))}}
    # A busy kernel may send one print as two messages.
    execute(
        notebook,
        allow_errors=True,
        timeout=300,
        resources=place,
        coalesce_streams=True,
    )
    return [
        [
            (one.output_type, one.get("text") or "\n".join(one.get("traceback", [])))
            for one in cell.outputs
        ]
        for cell in notebook.cells[2:]
    ]


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "`double` returned None: its last line needs `return`.\n"),
        ("ko", "`double`의 결과가 None입니다. 마지막 줄에 `return`이 필요합니다.\n"),
    ],
)
def test_a_kernel_shows_the_sentence_first(language: str, said: str) -> None:
    none, check, syntax, fine, _, *broken = outputs(
        language,
        "def double(x):\n    2 * x\ndouble(3).bit_length()",
        "assert False, 'in words'",
        "def double(x:",
        "%time print(double(3))",
        "import transformer.explained_errors as own\nown.explanation = None",
        "double(3) + 1",
        "double(3) + 1",
    )
    assert [kind for kind, _ in none] == ["stream", "error"]
    assert none[0][1] == said
    plain = re.sub(r"\x1b\[[\d;]*m", "", none[1][1])
    assert "double(3).bit_length()" in plain
    assert plain.endswith("'NoneType' object has no attribute 'bit_length'")
    assert [kind for kind, _ in check] == ["error"]
    assert [kind for kind, _ in syntax] == ["error"]
    assert fine[0][1].startswith("None\n")
    for shown in broken:  # a failing explanation does not hide the error
        assert [kind for kind, _ in shown] == ["error"]
