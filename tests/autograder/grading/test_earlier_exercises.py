"""A later exercise names the mistake of an earlier one that makes it fail."""

from dataclasses import replace

from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading.check_results import CheckResult
from autograder.grading.earlier_exercises import point_to_earlier

TITLE = "It is right"


def cell(grade_id: str, source: str):
    details = {"grade_id": grade_id, "solution": True, "grade": False}
    return new_code_cell(source, metadata={"nbgrader": details})


def result(exercise: str, status: str, hint: str = "") -> CheckResult:
    points = float(status == "passed")
    return CheckResult(exercise, "test_it", TITLE, 1, points, 1.0, status, hint=hint)


NOTEBOOK = new_notebook(
    cells=[
        cell("double", "def double(x):\n    return x + x\n"),
        cell("triple", "def triple(x):\n    return 3 * x\n"),
        cell("quadruple", "def quadruple(x):\n    return double(double(x))\n"),
    ]
)


def hints(*results: CheckResult) -> list[str]:
    return [told.hint for told in point_to_earlier(results, NOTEBOOK)]


def test_the_exercise_that_uses_a_wrong_one_says_so_once() -> None:
    failed = [result("double", "failed"), result("triple", "failed")]
    later = [
        result("quadruple", "passed"),
        result("quadruple", "failed", "Look again."),
        result("quadruple", "failed"),
    ]
    assert hints(*failed, *later) == [
        "",
        "",
        "",
        "Look again. It uses double, and a check there has failed too: fix that "
        "first, then look at this check again.",
        "",
    ]


def test_no_exercise_is_blamed_that_is_right_or_not_used() -> None:
    results = [result("double", "passed"), result("triple", "failed")]
    assert hints(*results, result("quadruple", "failed")) == ["", "", ""]


def test_a_mistake_of_its_own_is_mended_first() -> None:
    named = replace(result("quadruple", "failed"), mistake="three times")
    assert hints(result("double", "failed"), result("quadruple", "failed"), named) == [
        "",
        "",
        "",
    ]


def test_points_and_verdicts_stay() -> None:
    results = [result("double", "failed"), result("quadruple", "failed")]
    told = point_to_earlier(results, NOTEBOOK)
    assert [(r.status, r.points) for r in told] == [("failed", 0.0), ("failed", 0.0)]


def test_an_answer_that_is_no_python_blames_nobody() -> None:
    notebook = new_notebook(cells=[cell("double", "def double(:"), cell("b", "def b(")])
    results = [result("double", "failed"), result("b", "failed")]
    assert point_to_earlier(results, notebook) == results


def test_what_passed_with_our_answers_says_so() -> None:
    passed = replace(result("quadruple", "passed"), with_reference_answers=True)
    words = "It passes with the course's double instead of yours: fix yours next."
    assert hints(result("double", "failed"), passed) == ["", words]
    other = [result("triple", "failed"), passed]
    words = words.replace("double", "earlier functions")
    assert hints(*other) == ["", words]
