"""A class gets the hints that its setting allows, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from repositories import write

from autograder.course import HINTS, Course, CourseError, load_course
from autograder.publish import PublishError, publish
from autograder.publish.contents import hints_page

TEXTS = [
    "A sum begins with the neutral element.",
    "An empty list has a sum, too.",
    'Add with "+" in a loop, and return the total.',
]


@pytest.fixture
def hinted(course: Course) -> Course:
    """Give the first exercise three hints."""
    unit = course.units[0]
    quoted = ", ".join(f"'{text}'" for text in TEXTS)
    write(course.hints_file(unit), f"add-up = [{quoted}]\n")
    return course


@pytest.mark.parametrize("setting", HINTS)
def test_a_class_gets_the_hints_of_its_setting(
    hinted: Course, tmp_path: Path, setting: str
) -> None:
    count = HINTS[setting]
    publish(replace(hinted, hints=count), tmp_path / "public", "01")
    pages = list((tmp_path / "public").rglob("HINTS.md"))
    text = "".join(page.read_text("utf-8") for page in pages)
    assert len(pages) == (count > 0)
    assert [hint in text for hint in TEXTS] == [n < count for n in range(3)]
    assert text.count("<details>") == count
    readme = (tmp_path / "public" / "README.md").read_text("utf-8")
    assert ("HINTS.md" in readme) == (count > 0) and "@" not in readme


def test_the_self_study_edition_has_all_hints_whatever_the_setting(
    hinted: Course, tmp_path: Path
) -> None:
    publish(hinted, tmp_path / "learners", self_study=True)
    place = tmp_path / "learners/checks/solutions/hints/01_sums.toml"
    assert all(text in place.read_text("utf-8") for text in TEXTS)
    assert not list((tmp_path / "learners").rglob("HINTS.md"))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("book/01_sums.md", "# Sums\n\n{}\n"),
        ("book/_build/html/more.html", "<p>{}</p>"),
        ("book/_static/notes.txt", "> {}"),
        ("LICENSE", "MIT\n\n{}\n"),
    ],
)
@pytest.mark.parametrize("setting", ["none", "first"])
def test_a_hint_above_the_setting_is_refused_wherever_it_is(
    hinted: Course, tmp_path: Path, name: str, form: str, setting: str
) -> None:
    course = replace(hinted, hints=HINTS[setting])
    write(course.root / name, form.format(TEXTS[1].replace("has a", "has  a")))
    with pytest.raises(PublishError, match="shows hint 2 of add-up"):
        publish(course, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_a_translated_hint_is_refused_too(hinted: Course, tmp_path: Path) -> None:
    po = hinted.root / "book/locale/ko/feedback/01_sums.po"
    write(po, f'msgid "{TEXTS[0]}"\nmsgstr "합은 0에서 시작합니다."\n')
    write(hinted.root / "book/01_sums.md", "# Sums\n\n합은 0에서\n시작합니다.\n")
    with pytest.raises(PublishError, match="shows hint 1 of add-up"):
        publish(hinted, tmp_path / "public")


def test_a_page_of_hints_is_refused_without_the_setting(
    hinted: Course, tmp_path: Path
) -> None:
    write(hinted.root / "assignments/01_sums/HINTS.md", "# Hints\n")
    with pytest.raises(PublishError, match="neither the notebook nor a part of the"):
        publish(hinted, tmp_path / "public")


def test_the_page_is_in_the_language_of_the_edition() -> None:
    course = replace(load_course(), hints=1)
    page = hints_page(course, course.unit("04"), "ko")
    assert "모든 내적" in page and "All dot products" not in page
    assert "행렬 한" not in page and page.count("<details>") == 4


def test_another_setting_is_refused(pocket: Course) -> None:
    path = pocket.root / "autograder" / "course.toml"
    path.write_text('hints = "two"\n' + path.read_text("utf-8"), encoding="utf-8")
    with pytest.raises(CourseError, match="hints = 'two': expected one of none, first"):
        load_course(pocket.root)
