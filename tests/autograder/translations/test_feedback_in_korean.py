"""A student with a wrong answer in a Korean notebook gets Korean feedback.

A sample of the recorded wrong variants of every unit goes through the unit's hidden
checks. Their messages may keep code, names, and quotations from an exception or from
the student's line.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator

import pytest
import torch
from course_units import one_unit_or_all

from autograder.course import Unit, load_course
from autograder.grading.points import run_checks
from autograder.nbgrader_steps.feedback_words import translated_result
from autograder.proof.judging import Proof, exercise_of, proof_of
from autograder.proof.variants.registry import Variant
from autograder.proof.variants.substitution import substitute
from autograder.sandbox import LocalStudent
from autograder.translations.feedback_catalogues import feedback_table
from autograder.unit import cells_to_run, our_answers

COURSE = load_course()
EVERY = 7  # one wrong variant out of this many
# Code, and quotations from an exception or from the student's own line.
BESIDE = re.compile(r"`[^`]*`|“[^”]*”|<[a-z]+>")
LATIN = re.compile(r"(?<![\w.`=/\[-])[A-Za-z][a-z’']+(?![\w.`=/(\[-])")
SMALL_WORDS = """
a an the of is are was it its in to not with for and or should has have but by as at
from on that this than be one you your no all raised right argument call first second
numbers axes axis head layer words gradient values result state
"""
ENGLISH = frozenset(SMALL_WORDS.split())
IN_A_ROW = re.compile(rf"{LATIN.pattern}(?:,? {LATIN.pattern}){{2,}}")


def english_in(korean: str) -> list[str]:
    """Return the English words of a Korean text that are neither code nor a name."""
    rest = BESIDE.sub("", korean)
    found = [word for word in LATIN.findall(rest) if word.lower() in ENGLISH]
    return found + [match[0] for match in IN_A_ROW.finditer(rest)]


def told(proof: Proof, variant: Variant) -> Iterator[str]:
    """Yield the Korean feedback on a variant's own exercise."""
    unit = proof.graded
    table = feedback_table(COURSE.root, "ko", unit.slug)
    sources = substitute(cells_to_run(proof.notebook), variant)
    with contextlib.redirect_stdout(io.StringIO()):
        ours = our_answers(unit.answers, proof.notebook)
        student = LocalStudent(sources, answers=ours)
        results = run_checks(unit, student, {exercise_of(unit, variant)})
    for result in results:
        korean = translated_result(result, table)
        yield from (korean.title, korean.message, korean.hint)


@pytest.mark.integration
@pytest.mark.parametrize("unit", one_unit_or_all())
def test_what_is_said_of_wrong_answers_is_korean(unit: Unit) -> None:
    torch.set_num_threads(1)
    proof = proof_of(unit.slug, COURSE.root)
    wrong = [one for one in proof.variants if one.kind == "wrong"]
    said = {text for one in wrong[::EVERY] for text in told(proof, one)}
    assert len(said) > 20
    left = {text: found for text in said if (found := english_in(text))}
    assert left == {}


@pytest.mark.parametrize(
    "text",
    [
        "출력: the tensor of weights의 값",
        "첫 second 호출",
        "“quoted words stay” but these do not",
        "느린 plain english words",
    ],
)
def test_english_is_seen(text: str) -> None:
    assert english_in(text)


def test_code_and_quotations_are_no_english() -> None:
    kept = "attend에서 난 오류: ValueError: “it is not one” (`a is not b`), layer.to(x)"
    assert english_in(kept) == []
