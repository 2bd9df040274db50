"""The map of the units comes from one readable file, which keeps its other content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.self_study.progress import (
    FILE,
    course_map,
    minutes_of,
    read_progress,
    record,
)
from autograder.self_study.waiting import NotRun

COURSE = load_course()
PASSED = {"passed": True, "points": 15.0}


def told(folder: Path, language: str = "en") -> list[str]:
    return course_map(COURSE, folder, language, str).splitlines()


def test_without_a_file_the_first_unit_is_next(tmp_path: Path) -> None:
    lines = told(tmp_path)
    assert len(lines) == 16
    assert lines[3] == (
        "– 04 Scaled dot-product attention: 0 of 5 exercises, 0 of 85 points, "
        "about 70 minutes left"
    )
    assert lines[-1].startswith("Next: unit 01, exercise 1. The decoder's input")
    assert not (tmp_path / FILE).exists()


def test_the_next_exercise_is_of_the_last_unit_that_was_begun(tmp_path: Path) -> None:
    record(tmp_path, COURSE.unit("04"), {"attention-scores": PASSED})
    lines = told(tmp_path)
    assert "1 of 5 exercises, 15 of 85 points, about 60 minutes left" in lines[3]
    assert lines[-1] == (
        "Next: unit 04, exercise 2. From scores to weights, about 20 minutes"
    )


def test_after_a_finished_unit_comes_the_following_one(tmp_path: Path) -> None:
    names = [*COURSE.hints_of(COURSE.unit("04")), "why-the-square-root"]
    record(tmp_path, COURSE.unit("04"), dict.fromkeys(names, PASSED))
    lines = told(tmp_path)
    assert lines[3].startswith("✓ 04") and "left" not in lines[3]
    assert lines[-1].startswith("Next: unit 05, exercise 1.")


def test_after_the_last_unit_comes_what_was_left_out(tmp_path: Path) -> None:
    import nbformat

    last = COURSE.units[-1]
    names = minutes_of(nbformat.read(COURSE.release_notebook(last), as_version=4))
    record(tmp_path, last, dict.fromkeys(names, PASSED))
    assert told(tmp_path)[-1].startswith("Next: unit 01, exercise 1.")
    for unit in COURSE.units:
        names = minutes_of(nbformat.read(COURSE.release_notebook(unit), as_version=4))
        record(tmp_path, unit, dict.fromkeys(names, PASSED))
    assert told(tmp_path)[-1] == "All exercises are done."


def test_the_map_is_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    assert "마스크" in told(tmp_path, "ko")[6]


def test_one_fact_replaces_no_other(tmp_path: Path) -> None:
    unit = COURSE.unit("04")
    record(tmp_path, unit, {"attention-scores": {"hints": 2}})
    record(tmp_path, unit, {"attention-scores": PASSED})
    record(tmp_path, COURSE.unit("02"), {"tie-weights": PASSED})
    assert read_progress(tmp_path) == {
        "02_embeddings": {"tie-weights": PASSED},
        "04_attention": {"attention-scores": {"hints": 2, **PASSED}},
    }
    assert (tmp_path / FILE).read_text("utf-8").count("\n") > 10


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"04_attention": 3}', '{"04_attention": {"x": 3}}']
)
def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(NotRun, match=r"progress\.json is damaged"):
        record(tmp_path, COURSE.unit("04"), {"attention-scores": PASSED})
    assert (tmp_path / FILE).read_text("utf-8") == text


def test_a_link_in_a_repository_leads_to_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("mine")
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / f"{FILE}.new").symlink_to(other)
    record(tmp_path / "course", COURSE.unit("04"), {"attention-scores": PASSED})
    assert other.read_text() == "mine"
    assert not (tmp_path / "course" / FILE).is_symlink()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.new").mkdir()
    with pytest.raises(NotRun, match=r"progress\.json\.new cannot be written: "):
        record(tmp_path, COURSE.unit("04"), {"attention-scores": PASSED})
    with pytest.raises(NotRun, match="cannot be written: No such file"):
        record(tmp_path / "gone", COURSE.unit("04"), {"attention-scores": PASSED})


def test_a_file_with_what_the_course_does_not_know_is_kept(tmp_path: Path) -> None:
    more = {"99_more": {"x": {"passed": True}}, "04_attention": {"own": {"note": "!"}}}
    (tmp_path / FILE).write_text(json.dumps(more), encoding="utf-8")
    record(tmp_path, COURSE.unit("04"), {"attention-scores": PASSED})
    found = read_progress(tmp_path)
    assert found["99_more"] == more["99_more"]
    assert found["04_attention"]["own"] == {"note": "!"}
    assert told(tmp_path)[-1].startswith("Next: unit 04, exercise 2.")
