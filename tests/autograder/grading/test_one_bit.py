"""A run with the course's answers reveals only which checks pass.

The student's cells read our answers during this run, and try to send them out. Two
courses with different earlier answers must give the same results.
"""

from collections.abc import Callable
from dataclasses import asdict

import pytest
from sets import first_of
from tiny_grading import filled_in

from autograder.grading.earlier_exercises import point_to_earlier
from autograder.grading.points import run_checks
from autograder.sandbox.limits import Limits
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import GradedUnit, cells_to_run, our_answers

# The hook sees the source of each cell before it runs, including our cells.
SPY = """import os, signal, time, torch
seen = []
get_ipython().events.register("pre_run_cell", lambda info: seen.append(info.raw_cell))
def secret():
    found = [text for text in seen if "OURS" in text and "found" not in text]
    return found[0].partition("OURS_")[2].split()[0] if found else ""
def double(x):
    return x
"""
COURSE = "def double(x):\n    return 2 * x  # OURS_{secret} is secret\n"
SECRETS = ["first", "another"]
CHANNELS = {
    "message": "raise ValueError(word)",
    "type": "raise type(word, (Exception,), {})",
    "line": "if word == 'first':\n        raise ValueError\n    raise ValueError",
    "missing name": "globals()[word]; word.missing()",
    "not written": "raise NotImplementedError(word)",
    "shape": "return torch.ones([ord(letter) for letter in word])",
    "kind": "return type(word, (), {})()",
    "values": "return torch.full(x.shape, float(len(word)))",
    "output": "print(word); return x",
    "exit": "os._exit(len(word))",
    "signal": "os.kill(os.getpid(), len(word))",
    "protocol": "os.write(seen_socket(), word.encode())",
    "time": "time.sleep(0.5 if word == 'first' else 60)",
}
LIMITS = Limits(cell_seconds=60, exercise_seconds=6, submission_seconds=300)


def told(unit: GradedUnit, parent: object, secret: str, **later: str) -> list:
    """Return all results of a submission in a course with this answer."""
    notebook = filled_in(unit, double=SPY, **later)
    answers = {**unit.answers, "double": COURSE.format(secret=secret)}
    ours = our_answers(answers, notebook)
    cells = cells_to_run(notebook)
    students = SubmissionRunner(parent, cells, {}, LIMITS, ours)
    with students:
        results = run_checks(unit, students, only={"double", *later})
    runs = [(run.outputs, run.error, run.stopped) for run in students.runs]
    shown = [asdict(one) for one in point_to_earlier(results, notebook)]
    return [shown, runs, students.limits_hit]


@pytest.mark.parametrize("channel", first_of(CHANNELS))
def test_no_channel_carries_an_answer_out(
    tiny_unit: GradedUnit, parents: Callable, channel: str
) -> None:
    quadruple = (
        "def seen_socket():\n    return max(map(int, os.listdir('/proc/self/fd')[:-1]))"
        "\ndef quadruple(x):\n    word = secret()\n    if not word:\n"
        f"        raise ValueError('nothing seen')\n    {CHANNELS[channel]}\n"
    )
    found = [
        told(tiny_unit, parents("none"), one, quadruple=quadruple) for one in SECRETS
    ]
    assert found[0] == found[1]
    assert "nothing seen" in str(found[0])


def test_a_check_that_passes_tells_one_bit(
    tiny_unit: GradedUnit, parents: Callable
) -> None:
    """The test also proves that the spy really sees our answers."""
    quadruple = (
        "def quadruple(x):\n    if secret() == 'first':\n        return 4 * x\n"
        "    raise ValueError(secret())\n"
    )
    (passes, *one), (fails, *other) = (
        told(tiny_unit, parents("none"), secret, quadruple=quadruple)
        for secret in SECRETS
    )
    assert one == other and passes[:2] == fails[:2]
    assert [passes[2]["status"], fails[2]["status"]] == ["passed", "failed"]
    assert passes[2]["hint"].startswith("It passes with the course's")
    assert "first" not in str(passes) and "another" not in str(fails)


@pytest.mark.parametrize("ends", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_the_run_without_a_built_in_tells_no_more(
    tiny_unit: GradedUnit, parents: Callable, ends: str
) -> None:
    scaler = f"""
from torch import nn
class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        try:
            vars(nn)["".join(reversed("raeniL"))](2, 2)
        except RuntimeError:
            if secret() == "first":
                {ends}
    def forward(self, x):
        return x * self.weight + (0 if secret() else 1)
"""
    first, another = (
        told(tiny_unit, parents("none"), one, scaler=scaler) for one in SECRETS
    )
    assert first[1:] == another[1:]
    status = {one["name"]: one["status"] for one in another[0]}
    assert status["test_scaler_is_written"] == "passed"
