"""The real `course.toml`, and the mistakes in others."""

from pathlib import Path

import pytest

from autograder.course import Course, CourseError, load_course


def test_the_real_course_has_thirteen_units_in_order() -> None:
    course = load_course()
    assert [unit.number for unit in course.units] == list(range(1, 14))
    assert course.unit("4").slug == "04_attention"
    assert course.unit("attention") == course.unit("04_attention") == course.unit("04")


def test_every_module_that_students_write_exists() -> None:
    course = load_course()
    named = [module for unit in course.units for module in unit.modules]
    missing = [one for one in named if not course.module_file(one).is_file()]
    assert not missing


def test_colab_address(pocket: Course) -> None:
    assert pocket.colab_url(pocket.unit("1")) == (
        "https://colab.research.google.com/github/pocket/course/blob/main/"
        "assignments/01_sums/01_sums.ipynb"
    )


def test_unknown_unit_names_the_nearest(pocket: Course) -> None:
    with pytest.raises(
        CourseError, match="unknown unit '01_sum': did you mean 01_sums"
    ):
        pocket.unit("01_sum")
    with pytest.raises(CourseError, match="there are 01_sums, 02_means, 03_spread"):
        pocket.unit("7")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('slug = "02_means"', 'slug = "01_sums"', "slug given twice: 01_sums"),
        ('slug = "02_means"', 'slug = "01_means"', "number given twice: 1"),
        ('slug = "02_means"', 'slug = "means"', "expected two digits and a topic"),
        ('modules = ["means"]', 'modules = ["sums"]', "module given twice: sums"),
        ('package = "pocket"\n', "", "the entry 'package' is missing"),
        ("[packages]", "[packages", r"course\.toml: "),
        ('torch = "computes', 'torch = 1  # "', "packages: torch = 1: expected what"),
    ],
)
def test_a_wrong_table_is_refused(pocket, edit, old, new, message) -> None:
    edit("autograder/course.toml", old, new)
    with pytest.raises(CourseError, match=message):
        load_course(pocket.root)


def test_checks_draw_from_the_courses_number(pocket: Course) -> None:
    assert pocket.draw_number == 0
    path = pocket.root / "autograder" / "course.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\n[checks]\nnumber = 7\n", encoding="utf-8")
    assert load_course(pocket.root).draw_number == 7
    path.write_text(f"{text}\n[checks]\nnumber = -1\n", encoding="utf-8")
    with pytest.raises(CourseError, match=r"\[checks\]: number = -1: expected a whole"):
        load_course(pocket.root)


def test_a_folder_without_a_course_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"course\.toml is not there"):
        load_course(tmp_path)
