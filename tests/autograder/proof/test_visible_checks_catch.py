"""A visible check fails for mistakes that once went unnoticed by a reader.

The check also fails for nine of ten known mistakes of each exercise, and passes for
every right style. No known mistake ends in a raw Python error without an explanation.
"""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sets import first_of

from autograder.course import Unit, load_course
from autograder.proof.judging import exercise_of, proof_of
from autograder.proof.variants.faults import FAULTS
from autograder.proof.variants.registry import Variant
from autograder.proof.visible import (
    judge_slips,
    judge_visible,
    run_visible_check,
    visible_cells,
)

COURSE = load_course()
KNOWN = tomllib.loads(Path(__file__).with_name("visible_mistakes.toml").read_text())
BEGINNERS = tomllib.loads(
    Path(__file__).with_name("visible_messages.toml").read_text("utf-8")
)["answer"]

pytestmark = pytest.mark.integration


def cases(kind: str) -> list[tuple[str, str, list[str]]]:
    """List units, exercises and the variants in `fail` or `told_apart`."""
    return [
        (number, exercise, mistakes)
        for number, exercises in KNOWN[kind].items()
        for exercise, mistakes in exercises.items()
    ]


CASES = [(*place, mistake) for *place, every in cases("fail") for mistake in every]
REFUSED = {  # right according to the hidden checks
    "a plain attribute that moves to the device of x at each call": (
        "the exercise asks for a buffer"
    ),
    "layer_states": "it uses the answer of a later exercise",
}


def variant_of(number: str, exercise: str, description: str, kind: str) -> Variant:
    """Return the right or wrong variant of an exercise with this description."""
    proof = proof_of(COURSE.unit(number).slug, COURSE.root)
    (found,) = (
        variant
        for variant in proof.variants
        if (variant.kind, variant.description) == (kind, description)
        and exercise_of(proof.graded, variant) == exercise
    )
    return found


def run(number: str, exercise: str, described: str | None, kind: str = "wrong") -> None:
    """Run the visible check of one answer, right or wrong."""
    variant = variant_of(number, exercise, described, kind) if described else None
    run_visible_check(COURSE, COURSE.unit(number), exercise, variant)


@pytest.mark.parametrize(("number", "exercise", "mistake"), CASES)
def test_the_visible_check_fails(number: str, exercise: str, mistake: str) -> None:
    with pytest.raises(AssertionError) as caught:
        run(number, exercise, mistake)
    assert len(str(caught.value).split()) > 4  # a message in words


@pytest.mark.parametrize(("number", "exercise", "mistakes"), cases("told_apart"))
def test_the_visible_check_tells_mistakes_apart(
    number: str, exercise: str, mistakes: list[str]
) -> None:
    said = set()
    for mistake in mistakes:
        with pytest.raises(AssertionError) as caught:
            run(number, exercise, mistake)
        said.add(str(caught.value).partition("\n")[0])
    assert len(said) == len(mistakes), said


@pytest.mark.parametrize(
    ("number", "exercise"),
    sorted({(number, exercise) for number, exercise, _ in CASES}),
)
def test_the_answer_passes(number: str, exercise: str) -> None:
    run(number, exercise, None)


@pytest.mark.parametrize("answer", BEGINNERS, ids=lambda one: one["said"][:40])
def test_the_message_about_an_answer_is_true(answer: dict[str, str]) -> None:
    number, _, exercise = answer["exercise"].partition(" ")
    source, said = answer["source"].lstrip(), answer["said"]
    variant = Variant("", "", answer["replaces"], source)
    if not said:
        run_visible_check(COURSE, COURSE.unit(number), exercise, variant)
        return
    with pytest.raises(AssertionError) as caught:
        run_visible_check(COURSE, COURSE.unit(number), exercise, variant)
    assert str(caught.value).startswith(said)


def test_the_check_of_dropout_does_not_depend_on_chance() -> None:
    sources = visible_cells(COURSE.unit("04").slug, COURSE.root)
    space: dict[str, Any] = {}
    names = [name for name in sources if not name.endswith("-check")]
    for name in names[: names.index("scaled-dot-product-attention") + 1]:
        exec(sources[name], space)
    check = compile(sources["scaled-dot-product-attention-check"], "check", "exec")
    for seed in range(200, 600):
        space["torch"].manual_seed(seed)
        exec(check, space)


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_most_mistakes_fail_in_words_and_right_styles_pass(unit: Unit) -> None:
    every = list(judge_visible(COURSE, [unit]))
    bad = [
        f"{one.exercise}: {one.variant.description}: {one.error!r}"
        for one in every
        if one.error is not None
        and not (one.is_explained and one.variant.kind == "wrong")
        and one.variant.description not in REFUSED
    ]
    assert not bad, "\n".join(bad)
    for exercise in dict.fromkeys(one.exercise for one in every):
        wrong = [
            one
            for one in every
            if (one.exercise, one.variant.kind) == (exercise, "wrong")
        ]
        missed = [one.variant.description for one in wrong if one.error is None]
        assert len(missed) <= len(wrong) // 10, (exercise, missed)


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_answers_with_faults_pass_without_them(unit: Unit) -> None:
    proof = proof_of(unit.slug, COURSE.root)
    marks = tuple(f"@{fault.decorator.__name__}\n" for fault in FAULTS.values())
    answers = {
        replace(variant, description="", source=variant.source.partition("\n")[2])
        for variant in proof.variants
        if variant.source.startswith(marks)
    }
    assert answers
    for answer in {(one.replaces, one.source): one for one in answers}.values():
        exercise = exercise_of(proof.graded, answer)
        run_visible_check(COURSE, unit, exercise, answer)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a mistake may also cause a warning
@pytest.mark.parametrize("unit", first_of(COURSE.units), ids=lambda unit: unit.slug)
def test_slips_are_explained(unit: Unit) -> None:
    every = list(judge_slips(COURSE, unit))
    raw = [
        f"{one.exercise}: {one.variant.change}: {one.error!r}"
        for one in every
        if one.error is not None and not one.is_explained
    ]
    assert not raw, "\n".join(raw)
    for one in every:
        blamed, returned_none, _ = one.said.partition("` returned None")
        name = blamed.rpartition(".")[2].strip("`")
        assert not returned_none or f"def {name}(" in one.variant.source, one.said


@pytest.mark.parametrize("number", KNOWN["fail"])
def test_a_visible_check_has_at_most_twenty_lines(number: str) -> None:
    slug = COURSE.unit(number).slug
    for name, source in visible_cells(slug, COURSE.root).items():
        assert not name.endswith("-check") or len(source.splitlines()) <= 20, name
