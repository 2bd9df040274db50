"""A statement that cannot work while grading does not stop the rest of its cell."""

from collections.abc import Callable

import pytest
import torch
from students_in_children import DEFINES, run

from autograder.checking.failures import StudentError
from autograder.sandbox import LocalStudent
from autograder.sandbox.submission_runner import SubmissionRunner

REMARK = "Passed over while grading: "
CANNOT = {
    "%load_ext nothing_of_this_name": "%load_ext",
    "%autoreload 2": "%autoreload",
    "%conda install x": "%conda",
    "%nothing_of_this_name 3": "%nothing_of_this_name",
    "get_ipython().run_line_magic('nothing', '')": "%nothing",
    "import nothing_of_this_name": "import nothing_of_this_name",
    "from nothing_of_this_name.a import b as c": "from nothing_of_this_name.a import b",
    "import torch, nothing_of_this_name as n": "import torch, nothing_of_this_name",
}
SILENT = [
    *("%matplotlib", "%matplotlib inline", "%matplotlib widget", "%matplotlib qt"),
    *("%gui qt", "%config InlineBackend.figure_format = 'retina'"),
    "from __future__ import annotations",
]


def stderr_of(students) -> str:
    outputs = students.runs[0].outputs
    return "".join(one["text"] for one in outputs if one.get("name") == "stderr")


@pytest.mark.parametrize("line", [*CANNOT, *SILENT])
def test_the_rest_of_the_cell_runs(remote, line):
    students = remote(f"{line}\n{DEFINES}")
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert students.runs[0].error is None
    said = stderr_of(students)
    assert (REMARK + CANNOT[line] in said) if line in CANNOT else REMARK not in said


def test_the_cell_below_an_unknown_magic_is_code(remote):
    students = remote(f"%%nothing_of_this_name --x\n{DEFINES}")
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert f"{REMARK}%%nothing_of_this_name" in stderr_of(students)


def test_pylab_gives_its_names(remote):
    students = remote("%pylab inline\nfigure()\nx = np.ones(2)", DEFINES)
    run(students)
    assert students.runs[0].error is None


@pytest.mark.parametrize(
    ("cell", "kind", "line"),
    [
        ("x = 1\n%time y = 1 / 0", "ZeroDivisionError", 2),
        ("import torch\n%nothing_known\n1 / 0", "ZeroDivisionError", 3),
        ("%%nothing_known\nx = 1\n1 / 0", "ZeroDivisionError", 3),
        ("from torch import nothing_of_this_name", "ImportError", 1),
        ("if True:\n    import nothing_of_this_name", "ModuleNotFoundError", 2),
        ("import nothing_of_this_name as n\nn.f()", "NameError", 2),
    ],
)
def test_errors_of_the_code_stay(remote, cell, kind, line):
    students = remote(cell, DEFINES)
    run(students)
    error = students.runs[0].error
    assert error["type"] == kind
    assert error["line"] == line or cell.startswith("x")


@pytest.fixture
def child(parents) -> Callable[..., SubmissionRunner]:
    """Make students of code cells that run in children without a sandbox."""
    return lambda *cells: SubmissionRunner(parents("none"), list(cells), {})


FAILS_ONLY_HERE = [
    "from google.colab import drive\ndrive.mount('/content/drive')",
    "w = torch.zeros(1, device='cuda')",
    "name = input()",
    "import getpass\nkey = getpass.getpass()",
    "import pandas as pd\ntable = pd.read_csv('table.csv')",
    "import urllib.request\nurllib.request.urlopen('http://example.com')",
    "%run other.py",
    "%time open('weights.pt')",
    "%python x",
    "from google.colab import userdata\nkey = userdata.get('KEY')",
    "assert torch.cuda.is_available(), 'use a GPU'",
    "import sys\nsys.exit('use a GPU')",
    "raise KeyboardInterrupt",
]
BEHIND = """
import math as m
two: int = 2
if two > 2:
    two = 3
def double(x):
    return m.sqrt(two * two) * x
"""


@pytest.mark.parametrize("fails", FAILS_ONLY_HERE)
@pytest.mark.parametrize("first", ["import torch", "%%time\nimport torch"])
def test_definitions_behind_a_statement_that_fails_are_run(child, fails, first):
    begin = f"{first}\n{fails}"
    students = child(begin + BEHIND)
    assert torch.equal(run(students), torch.full((2,), 2.0))
    is_line_magic = "%time " in begin
    assert is_line_magic or students.runs[0].error["line"] == begin.count("\n") + 1


@pytest.mark.parametrize(
    "behind",
    ["double = double(3)", "double(3 / 0)", "del double", "for double in []:\n    1"],
)
def test_only_definitions_are_run_behind_a_statement_that_fails(child, behind):
    students = child(DEFINES, f"1 / 0\n{behind}")
    assert torch.equal(run(students), torch.full((2,), 2.0))
    assert students.runs[1].error["type"] == "ZeroDivisionError"


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("w = len(open('w.txt').read())", 1),
        ("import torch\ndrive.mount()\nw = torch.load('w.pt')", 2),
        ("%%time\n1 / 0\nw = wrong", 2),
        ("x = 1\nfrom torch import w", 2),
    ],
)
def test_the_feedback_names_the_statement_that_stopped_a_cell(child, cell, number):
    students = child("1 / 0", cell, "def double(x):\n    return w * x")
    with pytest.raises(StudentError) as told:
        run(students)
    code = cell.split("\n")[number - 1]
    assert "name 'w' is not defined" in told.value.message
    assert told.value.message.endswith(
        f"The cell that defines w stopped at its line {number}: {code}"
    )


def test_an_answer_whose_definition_fails_is_said_to_have_stopped(child):
    with pytest.raises(StudentError) as told:
        run(child(f"import os\n@fast\n{DEFINES}"))
    assert told.value.message == (
        "double is not defined. The cell that defines double stopped at its line 2: "
        "@fast"
    )


OF_A_MISSING_PACKAGE = "from nothing_of_this_name import Float, typed as checked\n"
ANNOTATED = {
    "a signature": """
def double(x: Float[T, "..."], y: Float = 2) -> Float["b"]:
    return x * y
""",
    "a variable": """
two: Float[T, "a"] = 2
def double(x):
    return two * x
""",
    "a variable of a function": """
def double(x):
    two: Float[T] = 2
    return two * x
""",
    "a class": """
class Two:
    value: Float[int] = 2
    other: Float
def double(x):
    return Two.value * x
""",
    "a dataclass": """
import dataclasses, typing
@dataclasses.dataclass
class Two:
    a: Float[int]
    b: int = 2
    c: typing.ClassVar[int] = 3
    d: list[Float] = dataclasses.field(default_factory=list)
    e: dataclasses.InitVar[int] = 4
    def __post_init__(self, e):
        assert e == 4 and self.d == []
assert [f.name for f in dataclasses.fields(Two)] == ["a", "b", "d"]
def double(x):
    return Two(1).b * x
""",
    "a named tuple": """
import typing
class Two(typing.NamedTuple):
    b: Float[int] = 2
def double(x):
    return Two().b * x
""",
    "a decorator": """
@checked(typechecker=checked)
def double(x: Float):
    return 2 * x
""",
    "a method's decorator": """
class Two:
    @staticmethod
    @checked
    def times(x: Float):
        return 2 * x
double = Two.times
""",
    "an alias": """
Scores = Float["b t"]
def double(x: Scores) -> Scores:
    return 2 * x
""",
}


@pytest.mark.parametrize("what", ANNOTATED)
@pytest.mark.parametrize("first", ["", "%reset -f"])
def test_annotations_decide_nothing(child, what, first):
    students = child(first, OF_A_MISSING_PACKAGE + ANNOTATED[what])
    assert torch.equal(run(students), torch.full((2,), 2.0))


def test_annotations_of_trusted_cells_decide_nothing_either():
    cell = "def double(x: Float[int], y: 1 / 0 = 2) -> Float:\n    return x * y"
    student = LocalStudent([cell])
    assert student.cell_errors == [None]
    assert torch.equal(student.double(torch.ones(2)), torch.full((2,), 2.0))
