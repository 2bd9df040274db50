"""Every written question has a rubric, and its model answer covers the rubric."""

import pytest

from autograder.course import load_course
from autograder.unit import graded_unit, written_points
from autograder.written.rubric import rubrics_of, write_rubric

COURSE = load_course()


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_the_parts_of_a_model_answer_give_the_points(unit):
    points = written_points(graded_unit(unit.slug).released)
    rubrics = rubrics_of(COURSE, unit, points)
    assert {one.name: sum(one.parts) for one in rubrics} == points
    assert points


def test_a_rubric_holds_question_and_model_answer(tmp_path):
    unit = COURSE.unit("04")
    points = written_points(graded_unit(unit.slug).released)
    write_rubric(rubrics_of(COURSE, unit, points), tmp_path / "rubric.md")
    text = (tmp_path / "rubric.md").read_text()
    assert text.startswith("# why-the-square-root: 15 points")
    assert "Why the square root?" in text
    assert "the variances add up" in text
    assert "{{" not in text
