"""Answers that compute nothing earn nothing, whatever their shape.

The test wraps each exercise's own answer. The wrapper returns `None`, one of the
inputs, or equal numbers of the right shape and kind.
"""

import ast
from collections.abc import Iterator

import pytest
from course_units import one_unit_or_all

from autograder.course import Unit, load_course
from autograder.grading.points import run_checks
from autograder.proof.judging import answer_cells
from autograder.sandbox import LocalStudent
from autograder.unit import GradedUnit, graded_unit

pytestmark = pytest.mark.integration
COURSE = load_course()
KINDS = ["None", "an input", "zeros", "ones"]
WRAPPING = '''

def emptied(function, kind):
    """Return a function that gives what `function` gives, without what is in it."""
    import copy

    def blank(value):
        if isinstance(value, torch.Tensor):
            return torch.full_like(value.detach(), kind == "ones")
        if isinstance(value, (bool, int, float)):
            return type(value)(kind == "ones")
        if isinstance(value, str):
            return ""
        if isinstance(value, (tuple, list)):
            return type(value)([blank(item) for item in value])
        if isinstance(value, dict):
            return {key: blank(item) for key, item in value.items()}
        return None

    def empty(*args, **kwargs):
        if kind == "None":
            return None
        if kind == "an input":
            tensors = (x for x in args if isinstance(x, torch.Tensor))
            return next(tensors, args[-1] if args else None)
        return blank(function(*copy.deepcopy(args), **copy.deepcopy(kwargs)))

    return empty


def emptied_class(kind_of_object, kind):
    """Let all methods of a class but its constructor give nothing."""
    for name, method in list(vars(kind_of_object).items()):
        if callable(method) and not name.startswith("__"):
            setattr(kind_of_object, name, emptied(method, kind))
    return kind_of_object
'''


def emptied_cells(unit: GradedUnit, cells: list[str], exercise: str, kind: str):
    """Return a unit's cells with one exercise's answer emptied."""
    answer = unit.answers[exercise]
    lines = [answer, "import torch", WRAPPING]
    for node in ast.parse(answer).body:
        if isinstance(node, ast.FunctionDef):
            lines.append(f"{node.name} = emptied({node.name}, {kind!r})")
        if isinstance(node, ast.ClassDef):
            lines.append(f"{node.name} = emptied_class({node.name}, {kind!r})")
    return ["\n".join(lines) if cell == answer else cell for cell in cells]


def paid_for_nothing(course_unit: Unit) -> Iterator[str]:
    """Yield a line for each check of a unit that gives points to an empty answer."""
    unit, cells = graded_unit(course_unit.slug), answer_cells(COURSE, course_unit)
    for exercise in unit.points:
        for kind in KINDS:
            student = LocalStudent(emptied_cells(unit, cells, exercise, kind))
            for result in run_checks(unit, student, only={exercise}):
                if result.points:
                    yield f"{exercise}: {kind}: {result.points} for {result.name}"


@pytest.mark.parametrize("unit", one_unit_or_all())
def test_an_empty_answer_earns_nothing(unit):
    assert list(paid_for_nothing(unit)) == []
