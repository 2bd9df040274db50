"""The Korean notebooks show no English sentence beside code and what is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat
import pytest

from autograder.course import Unit, load_course
from autograder.translations.code import words_of
from autograder.translations.notebooks import _is_ours

COURSE = load_course()
BESIDE = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|“[^”]*”|\*[^*\n]+\*|<[^>]*>|"
    r"\([^()]*\)|\{[^{}]*\}|state dict|float dtype",  # names of PyTorch's, too
    re.DOTALL,
)
SENTENCE = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}|[A-Za-z]{3,} [a-z]{3,}")


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


@pytest.mark.parametrize("text", ["이 the words stay", "단어 some plain words 뒤"])
def test_english_is_seen(text: str) -> None:
    assert SENTENCE.search(BESIDE.sub(" ", text))
