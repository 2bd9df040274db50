"""The cells that a kernel has run, and the questions that the command refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from own_notebooks import SCALED, UNSCALED, answers

from autograder.course import load_course
from autograder.self_study.command import check_kernel, last_versions, main
from autograder.self_study.progress import read_progress, record


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
        (["--watch"], "Specify the unit"),
        (["--hint", "2"], "Specify the unit"),
        (["04", "--hint", "9"], "numbered 1, 2, 3, 4, 5."),
        (["04", "--hint", "atention"], "There is no exercise atention."),
        (["77", "--hint"], "unknown unit '77'"),
        (["04", "--hint", "5"], "This exercise has no hints."),
        (["mine.ipynb"], "Specify the unit"),
        (["77"], "unknown unit '77'"),
        (["atention"], "did you mean 04_attention?"),
    ],
)
def test_a_unit_that_is_not_there_gets_one_sentence(
    arguments: list[str],
    named: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments, "en", tmp_path) == 2
    words = capsys.readouterr().out
    assert named in words and words.count("\n") == 1


@pytest.mark.slow
@pytest.mark.integration
def test_the_functions_of_a_kernel_are_those_of_the_cells_that_it_ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import nbformat

    def checked(cells: list[str]) -> int:
        return check_kernel({"In": cells}, "04_attention", "en", tmp_path)

    cells = nbformat.reads(answers(), as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    wrong = [source.replace(SCALED, UNSCALED) for source in sources]
    assert checked(["", *wrong, *sources]) == 0
    assert checked(["", *sources, *wrong]) == 1
    assert "✗ 1. Compare every query with every key" in capsys.readouterr().out
    few = [source for source in sources if "def softmax_entropy" not in source]
    assert checked(few) == 1
    assert read_progress(tmp_path)["04_attention"]["softmax-entropy"]["passed"]
    assert (
        "– 4. Measure how spread out attention is: not written yet"
        in capsys.readouterr().out
    )
    assert checked(["", "1 + 1"]) == 2
    assert "has not run any of your answers" in capsys.readouterr().out


def test_a_hint_without_a_number_is_for_the_first_exercise_that_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unit = load_course().unit("04")
    hints = load_course().hints_of(unit)
    for number, name in enumerate(hints):
        assert main(["04", "--hint"], "en", tmp_path) == 0
        assert f"Hint 1 of 3: {hints[name][0]}" in capsys.readouterr().out
        record(tmp_path, unit, {name: {"passed": True}})
        assert len(read_progress(tmp_path)["04_attention"]) == number + 1
    assert main(["04", "--hint"], "en", tmp_path) == 2
    assert "All exercises pass" in capsys.readouterr().out


def test_hints_and_the_map_are_korean_in_the_korean_edition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["04", "--hint", "1"], "ko", tmp_path) == 0
    assert capsys.readouterr().out.startswith("힌트 1/3: 쿼리와 키의 모든 내적은")
    assert main([], "ko", tmp_path) == 0
    words = capsys.readouterr().out
    assert "연습 문제 5개 가운데 0개" in words and "다음: 04단원" in words


def test_the_map_and_a_hint_need_no_pytorch(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from autograder.self_study import "
        f"command; place = Path({str(tmp_path)!r}); command.main([], 'ko', place); "
        "command.main(['04', '--hint'], 'ko', place); "
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == 0, done.stdout
