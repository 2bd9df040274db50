"""The Korean notebooks contain no English sentence, except for code and quotations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import nbformat
import pytest

from autograder.course import Unit, load_course
from autograder.translations.code import words_of
from autograder.translations.notebooks import SHARED, _is_ours, grade_id
from autograder.unit import is_graded_code

COURSE = load_course()
BESIDE = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|“[^”]*”|\*[^*\n]+\*|<[^>]*>|"
    r"\([^()]*\)|\{[^{}]*\}|state dict|float dtype",  # also names of PyTorch
    re.DOTALL,
)
SENTENCE = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}|[A-Za-z]{3,} [a-z]{3,}")
# Sentences that checks translate or count, and names of parts.
EXAMPLES = re.compile(
    r"(?:<?sos>?|<eos>|<pad>|\d|the|a|an|and|there|is|on|cat|mat|man|woman|old|calls|"
    r"waits|\w*_attention|add_norm\d|feed_forward| )+"
)


def texts(unit: Unit) -> Iterator[str]:
    path = COURSE.translated_notebook(unit, "ko")
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            yield from cell.source.split("\n\n")
        else:
            for one in words_of(cell.source):
                if _is_ours(cell, one.kind):
                    yield from one.text.split("\n")


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_no_english_sentence_is_left(unit: Unit) -> None:
    left = [t for t in texts(unit) if SENTENCE.search(BESIDE.sub(" ", t))]
    assert left == []


def strings(unit: Unit) -> Iterator[str]:
    """Yield every string of the visible checks, wherever it is in a cell."""
    path = COURSE.translated_notebook(unit, "ko")
    for cell in nbformat.read(path, as_version=4).cells:
        if is_graded_code(cell) and grade_id(cell) not in SHARED:
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_no_string_of_a_check_is_english(unit: Unit) -> None:
    """A message may look up its words in a dict, or contain a string in a field."""
    found = list(strings(unit))
    assert len(found) > 10
    left = [t for t in found if SENTENCE.search(t) and not EXAMPLES.fullmatch(t)]
    assert [text for text in left if not re.search("[가-힣]", text)] == []


@pytest.mark.parametrize("text", ["이 the words stay", "단어 some plain words 뒤"])
def test_english_is_seen(text: str) -> None:
    assert SENTENCE.search(BESIDE.sub(" ", text))
