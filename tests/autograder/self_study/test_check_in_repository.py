"""`python -m transformer.check` in the published repository, as on Windows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from own_notebooks import SCALED, UNSCALED, answers, changed, with_cell, write

from autograder.course import load_course
from autograder.publish import publish

pytestmark = pytest.mark.integration
Check = Callable[..., tuple[int, str]]
FOREVER = "while True: pass"
UNIT = load_course().unit("04")


@pytest.mark.slow
def test_a_right_notebook_passes_without_unix_and_the_grader(
    check: Check, tmp_path: Path
) -> None:
    status, words = check("04", write(tmp_path, answers()))
    assert status == 0, words
    assert "✓ 3. Scaled dot-product attention: 13 of 13 checks pass" in words
    assert "✗" not in words


def test_the_first_cause_is_named_and_the_right_answers_are_stored(
    check: Check, repository: Path, tmp_path: Path
) -> None:
    wrong = repository / "mine" / "04_attention_scores.py"
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_text("passed = 'before'\n")
    status, words = check("04", write(tmp_path, changed(SCALED, UNSCALED)))
    assert status == 1, words
    own, later = words.split("✓ 2. From scores to weights")
    assert own.startswith("✗ 1. Compare every query with every key: ")
    assert "→ in exercise 1. Compare every query with every key" in own
    assert "√d_k" in own.split("✗")[-1]
    assert "✗ 3. Scaled dot-product attention" in later
    assert "course's attention_scores instead of yours" in later
    assert "→ in exercise 1. Compare every query with every key" in later
    stored = sorted(path.name for path in wrong.parent.glob("04_*"))
    assert stored == ["04_masked_softmax.py", "04_softmax_entropy.py"]
    own = (wrong.parent / stored[0]).read_text("utf-8")
    assert own.startswith("# Your answer to exercise masked-softmax of unit 04.")
    assert "def masked_softmax(scores: Tensor" in own and "import torch\n" in own


@pytest.mark.slow
def test_the_notebook_as_it_was_handed_out_is_not_written_yet(check: Check) -> None:
    status, words = check(folder="assignments/04_attention")
    assert status == 1
    assert words.count("not written yet") == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "named"),
    [
        (changed(SCALED, FOREVER), "stopped after 30 s, because it did not end"),
        (changed(SCALED, "import os; os._exit(3)"), "✗ 1. Compare every query"),
    ],
)
def test_code_that_does_not_come_back_costs_only_its_exercise(
    check: Check, tmp_path: Path, text: str, named: str
) -> None:
    status, words = check("04", write(tmp_path, text))
    assert status == 1, words
    assert named in words
    assert "✓ 2. From scores to weights" in words


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells",
    [
        [
            *("%matplotlib inline", "!ls", "%time 1 + 1", "input('?')", "1 / 0"),
            *("print('x' * 10**7)", "import nothing_of_this_name"),
            "from transformer.check import check\ncheck()",
        ],
        [FOREVER],
    ],
)
def test_cells_of_the_learners_own_cost_nothing(
    check: Check, tmp_path: Path, cells: list[str]
) -> None:
    text = answers()
    for cell in cells:
        text = with_cell(text, cell)
    status, words = check("04", write(tmp_path, text))
    assert status == 0, words


@pytest.mark.slow
def test_watching_checks_again_on_each_save(
    repository: Path, tmp_path: Path, without_unix: Path
) -> None:
    path = write(tmp_path, answers()[:3000])
    command = [sys.executable, "-u", "-m", "transformer.check", "04", str(path)]
    with subprocess.Popen(
        [*command, "--watch"], cwd=repository, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        alarm = threading.Timer(300, process.kill)  # then readline returns ""
        alarm.start()
        try:
            first = process.stdout.readline()
            assert "is not a complete notebook file" in first
            time.sleep(1)
            write(tmp_path, answers())
            while "7 of 7" not in (line := process.stdout.readline()):
                assert line
        finally:
            alarm.cancel()
            process.terminate()


@pytest.mark.slow
def test_what_publish_writes_checks_its_own_notebook(tmp_path: Path) -> None:
    target = tmp_path / "public"
    publish(load_course(), target, "04", site=False, self_study=True, language="ko")
    command = [sys.executable, "-m", "transformer.check", "04"]
    done = subprocess.run(command, cwd=target, capture_output=True, encoding="utf-8")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("아직") == 4
    path = write(tmp_path, answers())
    done = subprocess.run([*command, path], cwd=target, capture_output=True)
    assert done.returncode == 0


def test_a_hint_and_the_map_come_from_the_repositorys_own_file(
    check: Check, repository: Path, tmp_path: Path
) -> None:
    path = write(tmp_path, changed(SCALED, UNSCALED))
    status, words = check("04", path, "--hint", "1")
    assert status == 0 and words.startswith("Hint 1 of 3: "), words
    status, words = check("04", path, "--hint", "1")
    assert "Hint 2 of 3: The tensor of scores should not equal" in words
    assert '"hints": 2' in (repository / "progress.json").read_text("utf-8")
    status, words = check()
    assert status == 0
    assert "04 Scaled dot-product attention: 2 of 5 exercises, 70 of 85" in words
    assert "Next: unit 04, exercise 1. Compare every query with every key" in words
    status, words = check("04", path, "--answer", "1")
    assert status == 2 and "does not pass yet" in words


@pytest.mark.slow
def test_a_notebook_asks_for_hints_and_answers(
    repository: Path, tmp_path: Path
) -> None:
    cells = json.loads(changed(SCALED, UNSCALED))["cells"]
    sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    names = ("attention_scores", "masked_softmax", "softmax_entropy")
    own = [one for one in sources if one.startswith(tuple(f"def {n}" for n in names))]
    imports = "import math\nimport torch\nfrom torch import Tensor\n"
    asks = [
        "from transformer.check import answer, check, hint",
        *("hint()", "answer(2)", "answer(1)", "answer(1, give_up=True)"),
    ]
    passed = {name: {"passed": True} for name in load_course().hints_of(UNIT)}
    progress = repository / "progress.json"
    progress.write_text(json.dumps({UNIT.slug: passed}), encoding="utf-8")
    lines = tmp_path / "cells.ipy"
    shell = "from IPython.core.interactiveshell import InteractiveShell\n"
    run = "shell.run_cell({!r}, store_history=True)\n"
    code = "".join(run.format(cell) for cell in (imports, *own, *asks))
    lines.write_text(f"{shell}shell = InteractiveShell.instance()\n{code}", "utf-8")
    done = subprocess.run(
        [sys.executable, lines],
        cwd=repository / "assignments" / "04_attention",
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        encoding="utf-8",
    )
    shown = done.stdout
    assert "of 3: " in shown, done.stderr  # although it passed before
    assert "def masked_softmax" in shown.partition("The course's answer:")[2]
    assert "Exercise attention-scores does not pass yet" in shown
    assert shown.endswith("/ math.sqrt(d_k)\n")
