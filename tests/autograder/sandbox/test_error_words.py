"""A student's error message shows sizes and names, and not the hidden inputs."""

import pytest

from autograder.sandbox.error_words import clean, student_error, without_values
from autograder.sandbox.student_side.cells import CellRunner

HELPFUL = [
    "mat1 and mat2 shapes cannot be multiplied (6x4 and 5x7)",
    "The size of tensor a (5) must match the size of tensor b (7) at dimension 2",
    "shape '[2, 3, 4, 5]' is invalid for input of size 1200",
    "index 17 is out of bounds for dimension 0 with size 12",
    "'Encoder' object has no attribute 'layers2'",
    "scaled_dot_product_attention_v2() missing 1 required argument: 'mask'",
    "expected scalar type Float but found Double",
]
NUMBERS = list(range(100, 160))
VALUES = [
    str(NUMBERS),
    "".join(f"{n:02x}" for n in NUMBERS),
    " ".join(f"{n}{n}{n}" for n in NUMBERS),
    ";".join(f"{n / 7:.3f}" for n in NUMBERS),
    ";".join(f"{n}e-9" for n in NUMBERS),
    "x" * 300,
]


@pytest.mark.parametrize("message", HELPFUL)
def test_sizes_and_names_stay(message):
    assert without_values(message, 400) == message


@pytest.mark.parametrize("message", VALUES)
def test_values_go(message):
    said = without_values(message, 400)
    digits = [one for one in said if one.isdigit()]
    assert len(said) <= 60 and len(digits) <= 24, said


def test_an_error_says_its_kind_and_the_students_line():
    report = {"kind": "raised", "type": "ValueError", "cell": 0, "line": 2}
    cells = ["def f(x):\n    raise ValueError(x.tolist())"]
    error = student_error({**report, "message": str(NUMBERS)}, "f", cells)
    said = error.message
    assert said.startswith("f raised ValueError: [100, 101, ")
    assert said.endswith("(line 2 of its cell: raise ValueError(x.tolist()))")
    assert "120" not in said
    assert said.endswith(error.place)


def test_the_cause_of_an_error_is_the_one_that_a_notebook_shows():
    report = {"kind": "raised", "type": "RuntimeError", "cell": 0, "line": 1}
    error = student_error({**report, "message": HELPFUL[0]}, "f", ["x @ y"])
    assert "the last size of the first must equal the first size" in error.message
    assert error.message.count("(6x4)") == 1


@pytest.mark.parametrize(
    ("cell", "line", "code"),
    [
        ("def f(x):\n    return x +\n", 2, "return x +"),
        ("def f(x):\n    if x:\n        x = 1\n      return x\n", 4, "return x"),
    ],
)
def test_a_cell_that_is_not_python_is_named_with_its_line(cell, line, code):
    error = CellRunner().run(0, cell)["error"]
    missing = {"kind": "missing", "message": "f"}
    said = student_error(missing, "f", [cell], {0: error["line"]}).message
    assert said == (
        "f is not defined. The cell that defines f is not valid Python. Its line "
        f"{line} is: {code}"
    )


def test_controls_are_blanks_on_one_line():
    assert clean("a\x1b[31m\n\u202eb\t\x07 c") == "a [31m b c"
