"""The hand-in cell, on a pretended Colab and elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from autograder.assemble.filled_in import fixed_source
from autograder.course import Course


def test_elsewhere_it_names_the_file(pocket: Course, capsys) -> None:
    exec(fixed_source("hand-in", pocket, pocket.unit("1")), {})
    assert "hand in the file 01_sums.ipynb" in capsys.readouterr().out


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
        blocking_request=lambda what, timeout_sec: {"ipynb": {"cells": [what]}}
    )
    colab.files = SimpleNamespace(download=downloads.append)
    monkeypatch.delitem(sys.modules, "google", raising=False)
    monkeypatch.chdir(tmp_path)
    import google.colab

    monkeypatch.setitem(sys.modules, "google.colab", colab)
    colab.__spec__ = google.colab.__spec__
    exec(fixed_source("hand-in", pocket, pocket.unit("1")), {})
    assert downloads == [str(Path("hand-in") / "01_sums.ipynb")]
    assert json.loads(Path(downloads[0]).read_text()) == {"cells": ["get_ipynb"]}
    del sys.modules["google"]
