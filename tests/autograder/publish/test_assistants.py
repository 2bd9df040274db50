"""The pages for AI assistants ask questions, and contain no answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from repositories import write

from autograder.assemble.markers import marked_bodies
from autograder.assemble.private_text import (
    secret_answers,
    secret_checks,
    secret_texts,
    telling_lines,
)
from autograder.course import Course, CourseError, Unit, load_course
from autograder.publish import PublishError, publish
from autograder.publish.assistants import REMEDY, assistants_pages, named_mistakes
from autograder.publish.refusals import private_things

WHOLE = load_course()
BOTH = ["AGENTS.md", "CLAUDE.md"]
CHECKS = """
def mistakes(x):
    named = {"the sum of the squares": x, "the mean: divide by the number": x}
    named["the product"] = lambda: x
    return named | {"shape": (2, 3), "the first kind": "a text"}


@check("sum", share=1)
def test_it(student):
    fail("No.", mistake="NaN in the sum")
    fail("No.", mistake=f"the value {student}")


@check("mean", share=1)
def test_more(student):
    fail("No.", mistake="the sum of both")
"""


@pytest.mark.parametrize("self_study", [False, True])
def test_the_repository_and_each_unit_have_both_pages(
    course: Course, tmp_path: Path, self_study: bool
) -> None:
    target = tmp_path / "public"
    publish(course, target, self_study=self_study)
    for folder in (".", "assignments/01_sums", "assignments/02_means"):
        texts = {(target / folder / name).read_text("utf-8") for name in BOTH}
        assert len(texts) == 1
        assert "Do not write any part of the code of an exercise" in texts.pop()
    own = (target / "assignments/02_means/AGENTS.md").read_text("utf-8")
    assert "This page is about unit 02." in own
    assert "@" not in own


def test_one_switch_turns_them_off(course: Course, tmp_path: Path) -> None:
    target = tmp_path / "public"
    publish(course, target)
    assert publish(replace(course, assistants=False), target).commit
    assert not [*target.rglob("AGENTS.md"), *target.rglob("CLAUDE.md")]


def test_the_switch_is_true_or_false(pocket: Course) -> None:
    path = pocket.root / "autograder" / "course.toml"
    path.write_text('assistants = "no"\n' + path.read_text("utf-8"), encoding="utf-8")
    with pytest.raises(CourseError, match="assistants = 'no': expected true or false"):
        load_course(pocket.root)


def test_mistakes_are_questions_and_those_with_a_remedy_are_left_out() -> None:
    assert named_mistakes(CHECKS) == {
        "sum": ["the sum of the squares", "the product", "NaN in the sum"],
        "mean": ["the sum of both"],
    }


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("unit", WHOLE.units, ids=lambda unit: unit.slug)
def test_each_unit_has_questions_and_no_line_of_an_answer(
    unit: Unit, language: str
) -> None:
    text = assistants_pages(WHOLE, unit, language, True)["AGENTS.md"]
    asks = {"en": "Which small example would show", "ko": "어떤 작은 예를 쓰면"}
    assert text.count(asks[language]) > 20
    shown = "".join(text.split())
    for module in unit.modules:
        for body in marked_bodies(WHOLE.module_file(module)):
            assert not [line for line in telling_lines(body.lines) if line in shown]


@pytest.mark.parametrize("kind", ["answer", "check", "model answer"])
@pytest.mark.parametrize("name", [*BOTH, "assignments/01_sums/AGENTS.md"])
@pytest.mark.parametrize("more", [{}, {"checks/x.py": b"pass"}])
def test_a_page_that_quotes_a_private_line_is_refused(
    course: Course, tmp_path: Path, kind: str, name: str, more: dict[str, bytes]
) -> None:
    unit = course.units[0]
    secret = {
        "answer": secret_answers(course, unit),
        "check": secret_checks(course),
        "model answer": secret_texts(course, unit),
    }[kind]
    one = next(secret)
    line = max(one.lines, key=len)
    page, folder = tmp_path / "public" / name, tmp_path / "public"
    write(page, f"- Which small example would show that {line}?\n")
    found = [str(problem) for problem in private_things(course, folder, more)]
    assert any(f"quotes {one.name}" in problem for problem in found), found
    write(page, "- Which small example would show the sum of the squares?\n")
    assert not private_things(course, folder, more)


def test_a_mistake_that_quotes_an_answer_stops_publishing(
    course: Course, tmp_path: Path
) -> None:
    secret = next(secret_answers(course, course.units[0]))
    line = max((one for one in secret.lines if not REMEDY.search(one)), key=len)
    checks = course.checks_file(course.units[0])
    text = checks.read_text("utf-8")
    write(checks, f"{text}\n\nMISTAKES = {{{f'the value of {line}'!r}: len}}\n")
    with pytest.raises(PublishError, match=r"AGENTS\.md: quotes the answer"):
        publish(course, tmp_path / "public")
    assert not (tmp_path / "public").exists()
