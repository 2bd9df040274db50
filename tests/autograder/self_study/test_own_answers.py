"""Notebooks of later units run on the learner's own answers of earlier units."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from own_notebooks import COURSE

from autograder.publish.contents import write_contents
from autograder.publish.self_study import self_study_files
from autograder.self_study.mine import own_module, own_modules, store
from autograder.self_study.waiting import NotRun
from autograder.unit import cells_to_run

UNIT = COURSE.unit("04")
UNITS = [unit for unit in COURSE.units if unit.number >= UNIT.number]
SHELL = """
import builtins, os, sys
from pathlib import Path
import nbformat
from IPython.core.interactiveshell import InteractiveShell

builtins.ran = set()
sys.path.insert(0, os.getcwd())
shell = InteractiveShell.instance(colors="nocolor")
first = nbformat.read(next(Path().glob("*.ipynb")), as_version=4).cells
source = next(cell.source for cell in first if cell.cell_type == "code")
assert "\\nmine = False  # " in source
shell.run_cell(source.replace("mine = False", "mine = True"))
"""
DATA = """
import torch
from transformer.config import TransformerConfig
from transformer.data import RUNNING_EXAMPLE
from transformer.data.word_counts import build_vocabularies

words = build_vocabularies([RUNNING_EXAMPLE])
config = TransformerConfig.tiny(*map(len, words), max_len=20)
src = torch.tensor([words[0].encode(RUNNING_EXAMPLE.src)])
tgt = torch.tensor([words[1].encode(RUNNING_EXAMPLE.tgt)])
"""
TRANSLATOR = """
from types import SimpleNamespace
from transformer.experiments.capstone import translate_all
from transformer.model import Transformer
from transformer.training.step import StepSettings, train_step
from transformer.translation.beams import SearchSettings

model = Transformer(config)
optimizer = SimpleNamespace(zero_grad=model.zero_grad, step=lambda: None)
train_step(model, src, tgt, optimizer, StepSettings(1))
translate_all(model, [RUNNING_EXAMPLE], words, SearchSettings(2, max_len=3))
"""
COUNT = """
from transformer.multi_head import count_parameters
count_parameters(model)
"""
AGAIN = """
from pathlib import Path
Path("../../mine/05_merge_heads.py").unlink()
use_mine()
from transformer.training.fused_attention import merge_heads
print("merge_heads is in", merge_heads.__module__)
"""
CELLS = (DATA, TRANSLATOR, COUNT, AGAIN)
NOT_NEEDED = {
    *("count_parameters", "conv_feed_forward", "layer_norm", "layer_states"),
    *("warmup_rate", "average_checkpoints", "greedy_decode"),
    *("ngram_precision", "corpus_bleu"),
}


def module(*cells: str, wanted: str = "f", **given: str) -> str:
    """Return the module of an exercise, without the lines that every module has."""
    source = own_module(cells, [wanted], given)
    return re.sub(r"\n+", "\n", source).removeprefix(
        "from __future__ import annotations\n"
    )


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["import math", "def f(): return math.pi"], [0, 1]),
        (["import math", "def f(): return 1"], [1]),
        (["def f(): return 1", "def f(): return 2"], [1]),
        (["def f(): return g()", "def h(): pass", "def g(): pass"], [0, 2]),
        (["x = 1", "def f():\n    x = 2\n    return x"], [1]),
        (["x = 1", "def f(y=x): return y"], [0, 1]),
        (["def f(): return 1", "f = print(f) or f"], [0, 1]),
        (["@staticmethod\ndef f(): return 1"], [0]),
        (
            ["class A: pass", "class f(A):\n    def g(self): return B", "B = 1"],
            [0, 1, 2],
        ),
        (["%matplotlib inline", "!ls", "def f(:", "def f(): return 1"], [3]),
        (["return 1", "def f(): return 1", "f()"], [1]),
    ],
)
def test_a_module_has_the_definitions_that_its_answer_needs(
    cells: list[str], kept: list[int]
) -> None:
    assert module(*cells) == "\n".join(cells[place] for place in kept) + "\n"


def test_a_module_imports_the_functions_of_other_exercises() -> None:
    cells = "def f(): return g()", "def g(): return 1"
    source = module(*cells, g="pocket.sums")
    assert source == "from pocket.sums import g\ndef f(): return g()\n"
    assert module(*cells, f="pocket.sums") == "\n".join(cells) + "\n"


def test_without_the_function_there_is_no_module() -> None:
    assert module("# This answer is in another cell.", "f = g = 1", wanted="h") == ""


def test_the_module_of_an_answer_is_kept_as_long_as_it_passes(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "04_masked_softmax.py"
    passes = {"written": True, "passed": True, "module": "x = 1\n"}
    store(tmp_path, UNIT, {"masked-softmax": passes, "why": {"own": "Because."}})
    assert path.read_text("utf-8") == "x = 1\n"
    store(tmp_path, UNIT, {"masked-softmax": {"written": False, "passed": False}})
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    store(tmp_path, UNIT, {"masked-softmax": {**passes, "passed": False}})
    assert not path.exists()


def test_a_folder_for_the_modules_that_cannot_be_written_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine").write_text("a file")
    facts = {"written": True, "passed": True, "module": "x = 1\n"}
    with pytest.raises(NotRun, match=r"mine.*cannot be written: "):
        store(tmp_path, UNIT, {"masked-softmax": facts})


@pytest.fixture
def learners(tmp_path: Path) -> Path:
    """Write the edition from unit 04 on, with answers that record that they ran."""
    more = self_study_files(COURSE, UNITS, "en")
    write_contents(COURSE, UNITS[-1:], tmp_path, more, site=False)
    record = "__import__('builtins').ran.add(__name__)"
    for unit in UNITS[:-1]:
        notebook = nbformat.read(COURSE.answer_notebook(unit), as_version=4)
        cells = cells_to_run(notebook)
        cells = [cell.replace("### BEGIN SOLUTION", record) for cell in cells]
        modules = own_modules(COURSE, unit, cells, str)
        passes = {"written": True, "passed": True}
        facts = {name: {**passes, "module": own} for name, own in modules.items()}
        store(tmp_path, unit, facts)
    return tmp_path


@pytest.mark.integration
def test_the_translator_runs_on_the_learners_answers(learners: Path) -> None:
    own = learners / "mine"
    (own / "08_encoder.py").unlink()
    (own / "07_causal_mask.py").write_text("1 / 0\n")
    wrong = "def count_parameters(module):\n    return module.no_such_name\n"
    (own / "05_count_parameters.py").write_text(wrong)
    cells = "".join(f"shell.run_cell({one!r})\n" for one in CELLS)
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{SHELL}{cells}print(ran)"],
        cwd=learners / "assignments" / UNITS[-1].slug,
        env={**os.environ, "PYTHONPATH": "", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout
    assert "this notebook uses your own 04: attention_scores, masked_softmax" in words
    assert "The course provides 07: causal_mask; 08: Encoder." in words
    assert "python -m transformer.check 07" in words
    assert (
        "Your answer to exercise causal-mask of unit 07 does not run here: "
        "ZeroDivisionError: division by zero. The course's is used." in words
    )
    assert words.count("Traceback (most recent call last)") == 1
    assert (
        "The error occurred in your answer to exercise count-parameters of unit 05, in "
        f"line 2 of {own / '05_count_parameters.py'}." in words
    )
    assert words.count("The course provides 05: merge_heads; 07: causal_mask") == 1
    assert "merge_heads is in transformer.multi_head" in words
    yours = words.split("uses your own")[1].partition(".")[0]
    names = set(re.findall(r"[,:] (\w+)", yours)) - NOT_NEEDED
    assert names > {"MultiHeadAttention", "Decoder", "Transformer", "prune"}
    assert len(names) == words.splitlines()[-1].count("'mine.")
