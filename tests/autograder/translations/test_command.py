"""`course translations` fails on faults that CI must not accept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from autograder.commands.app import app
from autograder.course import Course
from autograder.translations.catalogue import HEADER
from autograder.translations.report import RECORD
from autograder.translations.sources import locale_dir

README = "A sentence with `code` and [a link](https://example.org).\n"
KOREAN = "`code`와 [링크](https://example.org)가 있는 문장."


@pytest.fixture
def course(pocket: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Give the pocket course a README, its catalogue, and a record."""
    monkeypatch.setattr("autograder.course.load_course", lambda: pocket)
    (pocket.root / "README.md").write_text(README, encoding="utf-8")
    assert translations("extract", "--no-pages").exit_code == 0
    translate(pocket, KOREAN)
    assert translations("record").exit_code == 0
    return pocket


def translations(*words: str) -> Result:
    return CliRunner().invoke(app, ["translations", *words])


def catalogue(course: Course) -> Path:
    return locale_dir(course) / "README.po"


def translate(course: Course, korean: str) -> None:
    own = f'msgid "{README.strip()}"\nmsgstr "{korean}"\n'
    catalogue(course).write_text(HEADER + own, encoding="utf-8")


def test_what_is_in_step_is_let_through(course: Course) -> None:
    assert translations("extract", "--no-pages", "--check").exit_code == 0
    done = translations("check", str(catalogue(course)))
    assert done.exit_code == 0 and "0 faults" in done.output, done.output


def test_a_changed_sentence_fails_until_its_catalogue_is_written(
    course: Course,
) -> None:
    text = README.replace("A sentence", "One more sentence")
    (course.root / "README.md").write_text(text, encoding="utf-8")
    done = translations("extract", "--no-pages", "--check")
    assert done.exit_code == 1 and "README.po is outdated" in done.output
    assert translations("extract", "--no-pages").exit_code == 0
    assert "English before: A sentence" in catalogue(course).read_text("utf-8")
    assert translations("extract", "--no-pages", "--check").exit_code == 0


def test_a_catalogue_written_otherwise_fails(course: Course) -> None:
    path = catalogue(course)
    dated = path.read_text("utf-8").replace(
        "MIME", 'POT-Creation-Date: 2026-11-23 20:24+0000\\n"\n"MIME'
    )
    path.write_text(dated, encoding="utf-8")
    assert translations("extract", "--no-pages", "--check").exit_code == 1


@pytest.mark.parametrize(
    ("korean", "fault"),
    [
        (KOREAN.replace("`code`와 ", ""), "code lost: `code`"),
        (KOREAN.replace("example.org", "example.com"), "link new"),
        (f"{KOREAN} $x$", "formula new: $x$"),
        (f"{KOREAN} {{doc}}`intro`", "role new"),
        (f"{KOREAN} **굵은(bold)**는", "asterisks"),
    ],
)
def test_a_fault_fails(course: Course, korean: str, fault: str) -> None:
    translate(course, korean)
    done = translations("check", str(catalogue(course)))
    assert done.exit_code == 1 and fault in done.output, done.output


def test_a_share_below_the_recorded_one_fails(course: Course) -> None:
    shares = json.loads((locale_dir(course) / RECORD).read_text("utf-8"))
    assert shares["README.po"] == 1.0
    translate(course, "")
    done = translations("check")
    assert done.exit_code == 1 and "README.po: 0.0% is done" in done.output


def test_what_is_stale_or_missing_is_told_and_fails_nothing(course: Course) -> None:
    path = catalogue(course)
    path.write_text(path.read_text("utf-8") + '\nmsgid "more words"\nmsgstr ""\n')
    assert translations("record").exit_code == 0
    done = translations("check", str(path))
    assert done.exit_code == 0
    assert any(line.split()[-1] == "2" for line in done.output.splitlines())
