"""A file that is no notebook of the unit gets one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from own_notebooks import SCALED, answers, write

from autograder.self_study.child import check

ODD = {
    "empty": ("", "the file is empty"),
    "blank": ("  \n", "the file is empty"),
    "half-saved": (answers()[:4000], "it is not a complete notebook file"),
    "in conflict": (f"<<<<<<< HEAD\n{answers()}", "the marks of a git conflict"),
    "a list": ("[1, 2]", "it is a JSON file, but not a notebook"),
    "without cells": ('{"nbformat": 4, "metadata": {}}', "it has no cells"),
    "no cell": ('{"cells": [], "nbformat": 4, "metadata": {}}', "has no cells"),
    "of another unit": (answers("07"), "it is the notebook of another unit"),
    "a report": ("%PDF-1.7", "it is a PDF, not a notebook"),
}


def checked(path: Path, language: str = "en") -> dict[str, str]:
    asked = {"unit": "04", "notebook": str(path), "language": language}
    return check({**asked, "stopped": []}, lambda place: None)


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_notebook_of_the_unit_gets_one_sentence(
    tmp_path: Path, kind: str
) -> None:
    text, named = ODD[kind]
    problem = checked(write(tmp_path, text))["problem"]
    assert problem.startswith("04_attention.ipynb was not checked: ")
    assert named in problem
    assert "\n" not in problem and len(problem) < 300


def test_a_folder_and_a_missing_file_get_one_sentence(tmp_path: Path) -> None:
    assert "it is not a file" in checked(tmp_path)["problem"]
    missing = tmp_path / "mine.ipynb"
    problem = checked(missing)["problem"]
    assert problem.startswith(f"There is no notebook {missing} to check")
    assert "`git restore assignments/04_attention/04_attention.ipynb`" in problem


def test_the_sentence_is_korean_in_the_korean_edition(tmp_path: Path) -> None:
    problem = checked(write(tmp_path, ""), "ko")["problem"]
    assert "비어" in problem and "was not" not in problem


def test_the_title_of_an_exercise_is_the_heading_above_it(tmp_path: Path) -> None:
    unit = json.loads(answers())
    unit["cells"] = [c for c in unit["cells"] if c["cell_type"] == "code"]
    stub = 'raise NotImplementedError("Write it.")'
    for cell in unit["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = f"def attention_scores(query, key):\n    {stub}"
    report = checked(write(tmp_path, json.dumps(unit)))["report"]
    assert "1. Compare every query with every key" in report


@pytest.mark.integration
def test_what_passes_with_the_courses_functions_is_counted_apart(
    tmp_path: Path,
) -> None:
    forgetful = answers().replace(SCALED, SCALED.replace("return ", "scores = "))
    report = checked(write(tmp_path, forgetful))["report"]
    words = "0 of 13 checks pass with your attention_scores, and 13 with the course's"
    assert f"✗ 3. Scaled dot-product attention: {words}" in report
    assert "is None (is a `return` missing?)" in report
    assert "with every key: `attention_scores`, line 1 of its cell" in report
    assert "– 5. Why the square root?: a written answer" in report.splitlines()[-1]
