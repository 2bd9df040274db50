"""The search finds all texts that the grader may show."""

from __future__ import annotations

import ast

import pytest

from autograder.course import load_course
from autograder.phrases import WORD
from autograder.translations.sources import STUDENT_SIDE, handed_to, shown_by, told_in

COURSE = load_course()
SOURCE = '''"""A module."""
LIMIT = "ms"
PATTERN = "(?:a b)+"

def f(what):
    """Say."""
    fail(Phrase("{what} is not {wanted} there.", what, Phrase("red")))
    key = f"{what} of {LIMIT}"
    return said("Some words") + "two words" + series(["one", joined("{a} + {b}", x)])
'''


def test_texts_are_found_in_modules_and_templates() -> None:
    assert list(shown_by(SOURCE)) == [
        "{what} is not {wanted} there.",
        "red",
        "Some words",
        "two words",
    ]
    assert list(handed_to(("Phrase", "joined"), SOURCE)) == [
        "{what} is not {wanted} there.",
        "red",
    ]
    assert list(handed_to(("said",), SOURCE)) == ["Some words"]
    template = '{{ told("Result") }} {{ x.told("{n} points").format(n=2) }}'
    assert list(told_in(template)) == ["Result", "{n} points"]


def test_what_a_students_process_says_is_found() -> None:
    path = COURSE.root / "autograder" / STUDENT_SIDE
    assert "the default dtype" in list(shown_by(path.read_text("utf-8")))


def said_by_f_strings(source: str) -> list[str]:
    """Return the f-strings of a module that contain several words besides the fields.

    Messages about faults of the check itself are for its author, so they do not count.
    """
    tree = ast.parse(source)
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    for_authors = {id(part) for one in raised for part in ast.walk(one)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in for_authors:
            parts = [one.value for one in node.values if isinstance(one, ast.Constant)]
            if any(WORD.search(one) and " " in one.strip() for one in parts):
                found.append(ast.unparse(node))
    return found


@pytest.mark.integration
@pytest.mark.parametrize("folder", ["checks", "checking"])
def test_no_message_of_a_check_is_an_f_string(folder: str) -> None:
    """Nobody could translate an f-string, because only `Phrase` keeps the template."""
    paths = sorted((COURSE.root / "autograder" / folder).glob("*.py"))
    found = {path.name: said_by_f_strings(path.read_text("utf-8")) for path in paths}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_a_message_as_an_f_string_is_seen() -> None:
    assert said_by_f_strings('fail(f"{what} is not right.")')
    assert not said_by_f_strings('raise ValueError(f"{n} are too few")')
