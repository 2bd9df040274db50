"""The students' repository in Korean: notebooks, README and book."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from repositories import write

from autograder.assemble.assembler import assemble
from autograder.assemble.readme import END, START, write_readme
from autograder.course import Course
from autograder.publish import PublishError, publish
from autograder.translations.catalogue import HEADER


@pytest.fixture
def korean(course: Course) -> Course:
    """Give the pocket course a catalogue for a notebook, and one for the README."""
    locale = course.root / "book" / "locale" / "ko"
    own = 'msgid "Your name:"\nmsgstr "이름:"\n'
    write(locale / "notebooks" / "01_sums.po", HEADER + own)
    words = {
        "Handing in": "제출하기",
        "| unit | chapter | notebook | Colab |": "| 단원 | 장 | 노트북 | Colab |",
        "notebook": "노트북",
        course.title: "작은 강의",
        "open in Colab": "Colab에서 열기",
    }
    said = "\n".join(f'msgid "{a}"\nmsgstr "{b}"\n' for a, b in words.items())
    write(locale / "published.po", HEADER + said)
    title = f'msgid "{course.units[0].title}"\nmsgstr "더하기"\n'
    write(locale / "LC_MESSAGES" / "01_sums.po", HEADER + title)
    assemble(course)
    return course


def test_notebooks_and_readme_are_korean_beside_the_same_kit(
    korean: Course, tmp_path: Path
) -> None:
    path = korean.translated_notebook(korean.units[0], "ko")
    assert nbformat.read(path, 4).metadata.course_language == "ko"
    publish(korean, tmp_path / "en", site=False)
    publish(korean, tmp_path / "ko", site=False, language="ko")
    for language in ("en", "ko"):
        folder = tmp_path / language / "assignments"
        assert not (folder / "ko").exists()
        assert not (folder.parent / "book" / "locale").exists()
    own = "assignments/01_sums/01_sums.ipynb"
    there = "/blob/main/assignments/ko/01_sums/01_sums.ipynb"
    ours = path.read_text(encoding="utf-8")
    assert there in ours
    published = ours.replace(there, f"/blob/main/{own}")
    on_site = korean.chapter_url(korean.units[0], "ko")
    assert on_site in ours  # without a site, the link leads to the file
    published = published.replace(on_site, "../../book/01_sums.md")
    assert (tmp_path / "ko" / own).read_text(encoding="utf-8") == published
    assert (tmp_path / "en" / own).read_text(encoding="utf-8") != published
    kits = [
        {p.name: p.read_bytes() for p in (tmp_path / one).rglob("*.py")}
        for one in ("en", "ko")
    ]
    assert kits[0] == kits[1] != {}
    readmes = [(tmp_path / one / "README.md").read_text() for one in ("en", "ko")]
    assert "## Handing in" in readmes[0] and "## 제출하기" in readmes[1]
    assert "Handing in" not in readmes[1]
    assert readmes[1].startswith("# 작은 강의\n")
    row = f"더하기](book/01_sums.md) | [노트북]({own}) | [Colab에서 열기](https://"
    assert row in readmes[1] and "| 단원 | 장 | 노트북 | Colab |" in readmes[1]


def test_the_readme_of_the_repository_leads_to_korean_notebooks(
    korean: Course,
) -> None:
    readme = korean.root / "README.md"
    unit = "01_sums/01_sums.ipynb"
    shown = f"```console\n$ jupyter lab assignments/{unit}\n```"
    text = f"Open [it](assignments/{unit}).\n\n{START}\n{END}\n{shown}\n"
    readme.write_text(text, encoding="utf-8")
    locale = korean.root / "book" / "locale" / "ko"
    own = f'msgid "Open [it](assignments/{unit})."\n'
    own += f'msgstr "[여기](assignments/{unit})를 여세요."\n'
    write(locale / "README.po", HEADER + own)
    assert write_readme(korean)
    made = (korean.root / "README.ko.md").read_text(encoding="utf-8")
    assert f"[여기](assignments/ko/{unit})" in made
    assert f"[노트북](assignments/ko/{unit})" in made
    assert f"jupyter lab assignments/ko/{unit}" in made
    assert f"(assignments/{unit})" in readme.read_text(encoding="utf-8")


def test_a_korean_book_that_is_not_built_is_asked_for(
    korean: Course, tmp_path: Path
) -> None:
    with pytest.raises(PublishError, match="make book LANGUAGE=ko"):
        publish(korean, tmp_path / "ko", language="ko")


def test_the_guide_stays_at_home_in_both_languages(
    korean: Course, tmp_path: Path
) -> None:
    html = korean.root / "book" / "_build" / "html"
    for folder in (html, html / "ko"):
        write(folder / "index.html", "<html></html>")
        write(folder / "instructor.html", "<html>for instructors</html>")
    publish(korean, tmp_path / "ko", language="ko")
    names = {path.name for path in (tmp_path / "ko" / "docs").rglob("*.html")}
    assert names == {"index.html", "404.html"}
    assert (tmp_path / "ko" / "docs" / "ko" / "index.html").is_file()
    assert "docs/ko/index.html" in (tmp_path / "ko" / "README.md").read_text()


def test_the_korean_book_leads_to_the_notebooks_that_students_get(
    korean: Course, tmp_path: Path
) -> None:
    """They replace the English ones, because `assignments/ko/` is not published."""
    html = korean.root / "book" / "_build" / "html"
    write(html / "index.html", "<html></html>")
    own = "<p>jupyter lab assignments/ko/01_sums/01_sums.ipynb</p>"
    write(html / "ko" / "01_sums.html", own)
    publish(korean, tmp_path / "ko", language="ko")
    made = (tmp_path / "ko" / "docs" / "ko" / "01_sums.html").read_text("utf-8")
    assert made == own.replace("/ko/", "/")
