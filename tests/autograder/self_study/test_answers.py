"""Hints come one by one, and the course's answer comes after the learner's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.course import load_course
from autograder.self_study.answers import (
    both_answers,
    exercise_named,
    next_hint,
    next_step,
)
from autograder.self_study.progress import read_progress, record
from autograder.self_study.waiting import NotRun
from autograder.unit import points_of, written_points

COURSE = load_course()
UNIT = COURSE.unit("04")
SCORES, QUESTION = "attention-scores", "why-the-square-root"
FAILED = {"passed": False, "points": 0.0, "named": "", "own": "def f(): 1"}
WRITTEN = {"own": "The variance grows with the width of a key."}


def shown(folder: Path, **facts: Any) -> list[str]:
    found = {SCORES: {**FAILED, **facts}}
    return [str(one) for one in next_hint(COURSE, UNIT, SCORES, folder, lambda: found)]


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_each_exercise_has_three_hints_of_its_own(unit: Any) -> None:
    import nbformat

    released = nbformat.read(COURSE.release_notebook(unit), as_version=4)
    hints = COURSE.hints_of(unit)
    assert list(hints) == list(points_of(released))
    assert all(len(own) == 3 for own in hints.values())
    texts = [text for own in hints.values() for text in own]
    assert len(set(texts)) == len(texts)
    assert max(map(len, texts)) < 500


def test_hints_come_one_after_the_other_and_the_last_one_again(tmp_path: Path) -> None:
    hints = COURSE.hints_of(UNIT)[SCORES]
    for number in (1, 2, 3, 3):
        first, *rest = shown(tmp_path)
        assert first == f"Hint {number} of 3: {hints[number - 1]}"
        assert bool(rest) == (number == 3)
        found = read_progress(tmp_path)
        assert found["04_attention"][SCORES]["hints"] == number
    assert "--answer attention-scores --give-up" in rest[0]


def test_the_second_hint_is_the_mistake_that_the_check_names(tmp_path: Path) -> None:
    named = "It equals the result without the division."
    shown(tmp_path, named=named)
    assert shown(tmp_path, named=named) == [f"Hint 2 of 3: {named}"]


def test_after_the_last_hint_each_new_mistake_is_named(tmp_path: Path) -> None:
    for _ in range(3):
        shown(tmp_path)
    first, last = shown(tmp_path, cause="It is transposed.")
    assert first == "The check finds: It is transposed."
    assert "This is the last hint" in last


def test_without_a_check_the_second_hint_is_the_likeliest_pitfall(
    tmp_path: Path,
) -> None:
    def broken() -> dict[str, Any]:
        raise NotRun("there is no notebook")

    shown(tmp_path)
    hint = next_hint(COURSE, UNIT, SCORES, tmp_path, broken)
    assert hint[0].endswith(COURSE.hints_of(UNIT)[SCORES][1])


@pytest.mark.parametrize(
    "name", ["1", "1.", " 1 ", "attention-scores", "attention_scores"]
)
def test_an_exercise_has_a_number_and_a_name(name: str) -> None:
    assert exercise_named(COURSE, UNIT, name) == SCORES


@pytest.mark.parametrize("name", ["0", "6", "", "scores", "-1", "1.5"])
def test_other_names_get_the_numbers(name: str) -> None:
    with pytest.raises(NotRun, match=r"numbered 1, 2, 3, 4, 5\."):
        exercise_named(COURSE, UNIT, name)


def test_the_numbers_of_every_unit_are_unique() -> None:
    import nbformat

    for unit in COURSE.units:
        released = nbformat.read(COURSE.release_notebook(unit), as_version=4)
        names = [*points_of(released), *written_points(released)]
        numbered = [exercise_named(COURSE, unit, str(n)) for n in range(1, 4)]
        assert numbered == names[:3]


def test_the_courses_answer_needs_a_pass_or_giving_up() -> None:
    with pytest.raises(NotRun, match="does not pass yet"):
        both_answers(COURSE, UNIT, SCORES, FAILED, give_up=False)
    own, ours = both_answers(COURSE, UNIT, SCORES, FAILED, give_up=True)
    assert own == "def f(): 1"
    assert "return query @ key.transpose(-2, -1) / math.sqrt(d_k)" in ours
    assert "SOLUTION" not in ours
    passed = {**FAILED, "passed": True}
    assert both_answers(COURSE, UNIT, SCORES, passed, give_up=False) == (own, ours)


@pytest.mark.parametrize("give_up", [False, True])
@pytest.mark.parametrize("own", ["", "YOUR ANSWER HERE", "여기에 쓰세요.", "no idea"])
def test_a_model_answer_needs_an_answer_of_the_learners(
    own: str, give_up: bool
) -> None:
    with pytest.raises(NotRun, match="Write an answer of your own first"):
        both_answers(COURSE, UNIT, "why-the-square-root", {"own": own}, give_up)


@pytest.mark.parametrize(
    ("unit", "question", "part"),
    [
        ("04", "why-the-square-root", "standard deviation of $ab"),
        ("07", "why-masks", "softmax"),
        ("13", "report", "What was trained"),
    ],
)
def test_a_model_answer_comes_after_the_learners(
    unit: str, question: str, part: str
) -> None:
    chosen = COURSE.unit(unit)
    own, ours = both_answers(COURSE, chosen, question, WRITTEN, give_up=False)
    assert own == WRITTEN["own"]
    assert part in ours
    assert not ours.startswith("<!--") and "-->" not in ours


def test_the_next_step_names_the_first_exercise_that_fails(tmp_path: Path) -> None:
    right = {**FAILED, "passed": True}
    found = {SCORES: right, "masked-softmax": FAILED, "why-the-square-root": WRITTEN}
    assert "`--hint 2`" in next_step(found, COURSE, UNIT, tmp_path)
    assert "`--answer 1`" in next_step({SCORES: right}, COURSE, UNIT, tmp_path)
    found = {SCORES: right, QUESTION: WRITTEN}
    assert "Exercise 5 is not done yet" in next_step(found, COURSE, UNIT, tmp_path)
    record(tmp_path, UNIT, {QUESTION: {"passed": True}})
    assert "`--answer 1`" in next_step(found, COURSE, UNIT, tmp_path)
