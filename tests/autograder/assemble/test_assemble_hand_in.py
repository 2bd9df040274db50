"""The hand-in cell, on a simulated Colab and elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from autograder.assemble.filled_in import fixed_source
from autograder.course import Course, load_course


def test_elsewhere_it_names_the_file(pocket: Course, capsys) -> None:
    exec(fixed_source("hand-in", pocket, pocket.unit("1")), {})
    assert "hand in the file 01_sums.ipynb" in capsys.readouterr().out


@pytest.mark.parametrize("whole", [True, False])
def test_it_counts_the_answers_that_are_not_written(
    pocket: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, whole
) -> None:
    """The cell's text depends on whether all or no exercises are answered."""
    monkeypatch.chdir(tmp_path)
    stub = (
        'def add():\n    # YOUR CODE HERE\n    raise NotImplementedError("Write add.")'
    )
    own = 'def add(a, b):\n    raise NotImplementedError("no")\n# YOUR CODE HERE'
    sources = [own, "Because."] if whole else [stub, "YOUR ANSWER HERE"]
    source = fixed_source("hand-in", pocket, pocket.unit("1"))
    cells = [{"source": text.splitlines(True)} for text in [*sources, source]]
    Path("01_sums.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    exec(source, {})
    assert (
        f"missing from the saved file: {0 if whole else 2}\n" in capsys.readouterr().out
    )


def test_every_answer_as_it_is_given_out_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    course = load_course()
    for unit in course.units:
        editions = (
            course.release_notebook(unit),
            course.translated_notebook(unit, "ko"),
        )
        for path in editions:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            own = [cell["metadata"].get("nbgrader", {}) for cell in cells]
            number = sum(bool(one.get("solution")) for one in own)
            monkeypatch.chdir(path.parent)
            exec("".join(cells[-1]["source"]), {})
            assert capsys.readouterr().out.endswith(f": {number}\n"), path


def test_on_colab_it_downloads_the_notebook(
    pocket: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "google" / "colab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    downloads: list[str] = []
    colab = ModuleType("google.colab")
    colab._message = SimpleNamespace(
        blocking_request=lambda what, timeout_sec: {
            "ipynb": {"cells": [{"source": [what]}]}
        }
    )
    colab.files = SimpleNamespace(download=downloads.append)
    monkeypatch.delitem(sys.modules, "google", raising=False)
    monkeypatch.chdir(tmp_path)
    import google.colab

    monkeypatch.setitem(sys.modules, "google.colab", colab)
    colab.__spec__ = google.colab.__spec__
    exec(fixed_source("hand-in", pocket, pocket.unit("1")), {})
    assert downloads == [str(Path("hand-in") / "01_sums.ipynb")]
    assert json.loads(Path(downloads[0]).read_text()) == {
        "cells": [{"source": ["get_ipynb"]}]
    }
    del sys.modules["google"]
