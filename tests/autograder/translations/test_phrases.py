"""The texts that the grader may show are found where they stand."""

from __future__ import annotations

from autograder.translations.phrases import phrases_of, said_in, told_in

SOURCE = '''"""A module."""
LIMIT = "ms"

def f(what):
    """Say."""
    fail(f"{what} is not {what!r} there.")
    bold = f'<b style="color:{what}">'
    return bold + said("Some words") + "two words"
'''


def test_phrases_are_found_in_modules_scripts_and_templates() -> None:
    assert list(phrases_of(SOURCE)) == [
        "{what} is not {what!r} there.",
        "Some words",
        "two words",
    ]
    assert list(said_in(SOURCE)) == ["Some words"]
    template = '{{ told("Result") }} {{ x.told("{n} points").format(n=2) }}'
    assert list(told_in(template)) == ["Result", "{n} points"]
