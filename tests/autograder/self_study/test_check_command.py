"""The cells that a kernel has run, and the questions that the command refuses."""

from __future__ import annotations

import pytest
from own_notebooks import SCALED, UNSCALED, answers

from autograder.self_study.command import check_kernel, last_versions, main


@pytest.mark.parametrize(
    ("ran", "kept"),
    [
        (["", "x = 1", "x = 1"], ["", "x = 1"]),
        (
            ["def f(): return 1", "f()", "def f(): return 2"],
            ["f()", "def f(): return 2"],
        ),
        (
            ["def f(): 1\ndef g(): 2", "def g(): 3"],
            ["def f(): 1\ndef g(): 2", "def g(): 3"],
        ),
        (["class A: pass", "class A: x = 1"], ["class A: x = 1"]),
        (["def f(:", "def f(): pass"], ["def f(:", "def f(): pass"]),
    ],
)
def test_the_last_version_of_a_cell_counts(ran: list[str], kept: list[str]) -> None:
    assert last_versions(ran) == kept


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "Name the unit"),
        (["mine.ipynb"], "Name the unit"),
        (["77"], "unknown unit '77'"),
        (["atention"], "did you mean 04_attention?"),
    ],
)
def test_a_unit_that_is_not_there_gets_one_sentence(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, "en") == 2
    words = capsys.readouterr().out
    assert named in words and words.count("\n") == 1


@pytest.mark.slow
@pytest.mark.integration
def test_the_functions_of_a_kernel_are_those_of_the_cells_that_it_ran(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import nbformat

    cells = nbformat.reads(answers(), as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    wrong = [source.replace(SCALED, UNSCALED) for source in sources]
    assert check_kernel({"In": ["", *wrong, *sources]}, "04_attention", "en") == 0
    assert check_kernel({"In": ["", *sources, *wrong]}, "04_attention", "en") == 1
    assert "✗ 1. Every query meets every key" in capsys.readouterr().out
    few = [source for source in sources if "def softmax_entropy" not in source]
    assert check_kernel({"In": few}, "04_attention", "en") == 1
    assert "– 4. A ruler for attention: not written yet" in capsys.readouterr().out
    assert check_kernel({"In": ["", "1 + 1"]}, "04_attention", "en") == 2
