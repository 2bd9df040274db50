"""The report names the function that returns None, and counts our cells separately."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.checking.compare import describe
from autograder.grading.check_results import CheckResult
from autograder.phrases import Phrase
from autograder.self_study.report import report

MESSAGE = Phrase("{what} should be a tensor, but it is {found}.", "it", describe(None))


def reported(answer: str, *results: CheckResult) -> list[str]:
    """Return the report of a notebook with one exercise and one question."""
    details = {"grade_id": "one", "solution": True}
    question = {"grade_id": "why", "solution": True, "grade": True, "points": 5}
    cells = [
        new_markdown_cell("## 1. One"),
        new_code_cell(answer, metadata={"nbgrader": details}),
        new_markdown_cell("## 2. Why"),
        new_markdown_cell("Because.", metadata={"nbgrader": question}),
    ]
    return report(results, new_notebook(cells=cells), (), str).splitlines()


def failed(message: str, name: str = "values") -> CheckResult:
    return CheckResult("one", name, "Values", 1, 0, 1, "failed", message)


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("def f(x):\n    y = x", ": `f`, line 1"),
        ("def f(x):\n    print(x)", ": `f`, line 1"),
        ("import math\n\ndef f(x):\n    return\n    x", ": `f`, line 3"),
        ("def f(x):\n    def g():\n        return x\n    g()", ": `f`, line 1"),
        (
            "class A:\n    def __init__(self):\n        pass\n\n"
            "    def forward(self, x):\n        x + 1",
            ": `forward`, line 5",
        ),
        ("def f(x):\n    if x > 0:\n        return x", None),
        ("def f(x):\n    return [].append(x)", None),
        ("f = print", None),
        ("def f(x", None),
    ],
)
def test_the_function_without_return_is_named_with_its_line(
    answer: str, place: str | None
) -> None:
    lines = reported(answer, failed(MESSAGE))
    assert "is None (is a `return` missing?)" in lines[1]
    after = f"{place} of its cell" if place else ""
    assert lines[2] == f"      → in exercise 1. One{after}"


def test_a_wrong_value_has_no_line() -> None:
    lines = reported("def f(x):\n    y = x", failed("It is wrong."))
    assert lines[2] == "      → in exercise 1. One"


def test_a_written_question_is_listed_in_its_place() -> None:
    lines = reported("def f(x):\n    y = x", failed(MESSAGE))
    assert lines[-1].startswith("– 2. Why: a written answer, which no check reads")
    assert lines[-1].endswith("`--answer 2`")


@pytest.mark.parametrize("count", [1, 2])
def test_what_passes_with_the_courses_functions_is_counted_apart(count: int) -> None:
    ours = CheckResult("one", "a", "A", 1, 1, 1, "passed", with_reference_answers=True)
    own = CheckResult("one", "b", "B", 1, 1, 1, "passed")
    lines = reported("def f(x):\n    return x", *[ours] * count, own)
    words = "checks pass with your earlier functions, and"
    assert lines[0] == (
        f"✗ 1. One: 1 of {count + 1} {words} {count + 1} with the course's"
    )


def test_a_missing_cell_is_named() -> None:
    cells = [
        new_markdown_cell("## 1. One"),
        new_code_cell("", metadata={"nbgrader": {"grade_id": "one", "solution": True}}),
    ]
    notebook = new_notebook(cells=cells)
    said = report([failed(MESSAGE)], notebook, ["one"], str, ["one"])
    assert "not written yet, because its cell is missing" in said


def test_an_exercise_that_uses_a_cell_that_is_not_python_points_there() -> None:
    two = {"grade_id": "two", "solution": True}
    cells = [
        new_markdown_cell("## 1. One"),
        new_code_cell(
            "def f(x):\n    return (", metadata={"nbgrader": {**two, "grade_id": "one"}}
        ),
        new_markdown_cell("## 2. Two"),
        new_code_cell("def g(x):\n    return f(x)", metadata={"nbgrader": two}),
    ]
    second = replace(failed("g is wrong."), exercise="two")
    results = [failed("f is not defined."), second]
    said = report(results, new_notebook(cells=cells), (), str)
    assert said.splitlines()[-1] == "      → in exercise 1. One"
