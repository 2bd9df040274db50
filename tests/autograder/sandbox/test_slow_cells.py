"""A student's slow cell runs once, unless an answer may use its results."""

import pytest
from students_in_children import DEFINES, run

from autograder.checking.failures import StudentError
from autograder.sandbox import submission_runner
from autograder.sandbox.slow_cells import is_needed_again

ANSWER = """
def f(x):
    loss = helper(x) * FACTOR
    return loss
class Model:
    def forward(self, x, model=DEFAULT):
        return x
"""
TRAINS = "model = Model()\nfor step in range(9):\n    loss = f(model)\nprint(loss)"


@pytest.mark.parametrize(
    "slow",
    [
        TRAINS,
        "import time\ntime.sleep(17)",
        "%timeit f(1)\nresults = {}\nresults['a'] = f(2)",
        "import math\nx = math.pi",
        "def train(model):\n    loss = model\n    return loss\ntrain(3)",
    ],
)
def test_what_no_answer_uses_is_not_needed_again(slow):
    assert not is_needed_again(1, [ANSWER, slow, "import math\nprint(math)"])


@pytest.mark.parametrize(
    "slow",
    [
        "helper = abs",
        "def helper(x):\n    return x",
        "from math import sqrt as helper",
        "for FACTOR in range(3):\n    pass",
        "def change():\n    global FACTOR\n    FACTOR = 2\nchange()",
        "Model.forward = None",
        "f.cache['a'] = 1",
        "DEFAULT = 1",
        "globals()['helper'] = abs",
        "if True:\n    import numpy as FACTOR",
        "this is no code",
        "import math as DEFAULT",
        "x = " + "-" * 50_000 + "1",
    ],
)
def test_what_an_answer_may_use_is_needed_again(slow):
    use = "f.cache = {}\nModel().forward(1)\nf.cache"
    assert is_needed_again(1, [ANSWER, slow, use])


def test_a_slow_cell_runs_once_and_a_needed_one_each_time(remote, monkeypatch):
    monkeypatch.setattr(submission_runner, "SLOW", 0.2)
    wait = "import time\ntime.sleep(0.3)\n"
    students = remote(f"{wait}mine = 1", f"{wait}needed = 2", "needed", DEFINES)
    with students.fresh("one") as student:
        assert (student.value("mine"), student.value("needed")) == (1, 2)
    with students.fresh("two") as student:
        assert student.value("needed") == 2
        with pytest.raises(StudentError, match="mine is not defined"):
            student.value("mine")
    run(students)
    assert len(students.runs) == 4
    assert students.limits_hit == ["cell 0: 0 s, run once"]
