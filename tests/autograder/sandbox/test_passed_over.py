"""What cannot work while grading is passed over with a remark; the rest runs."""

import pytest
import torch
from students_in_children import DEFINES, run

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
        ("%%nothing_known\nx = 1\n1 / 0", "ZeroDivisionError", 2),
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
    assert error["line"] == line or cell.startswith(("x", "%%"))
