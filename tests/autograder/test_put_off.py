"""The grammar of IRIs is imported when an IRI is checked, and not before."""

import subprocess
import sys

import pytest

pytest.importorskip("rfc3987_syntax")


def said_by(code: str) -> list[str]:
    """Return the lines that a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_grading_does_without_the_grammar():
    code = "import sys, autograder.classroom.workers\nprint('lark' in sys.modules)"
    assert said_by(code) == ["False"]


def test_looking_at_all_modules_does_not_import_it():
    code = (
        "import inspect, sys, autograder, jsonschema\n"
        "inspect.getmodule(inspect.currentframe())\n"
        "print([hasattr(module, '__nothing__') for module in [*sys.modules.values()]]"
        ".count(True), 'lark' in sys.modules)"
    )
    assert said_by(code) == ["0 False"]


@pytest.mark.parametrize("first", ["", "import autograder\n"])
@pytest.mark.parametrize("kind", ["iri", "iri-reference"])
def test_iris_are_checked_as_without_us(first, kind):
    code = (
        f"{first}from jsonschema import Draft7Validator, FormatChecker\n"
        f"asked = Draft7Validator({{'format': {kind!r}}},"
        " format_checker=FormatChecker())\n"
        "for text in ('http://a.example/ü', 'ü/b', 'a b', '<', ''):\n"
        "    print(asked.is_valid(text))\n"
        "import sys\n"
        "print('lark' in sys.modules)"
    )
    without = {
        "iri": ["True", "False", "False", "False", "False"],
        "iri-reference": ["True", "True", "False", "False", "True"],
    }
    assert said_by(code) == [*without[kind], "True"]


def test_the_rest_of_the_module_is_there():
    code = (
        "import autograder, rfc3987_syntax\n"
        "print(rfc3987_syntax.is_valid_syntax_port('80'))\n"
        "from rfc3987_syntax.utils import load_grammar\n"
        "print(callable(load_grammar), rfc3987_syntax.__spec__.name)"
    )
    assert said_by(code) == ["True", "True rfc3987_syntax"]
