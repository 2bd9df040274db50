"""The settings that nbgrader's exchange needs; `test_other_platforms.py` uses it."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from tiny_grading import UNIT
from traitlets.config import Config

from autograder.assemble.release import configure_release
from autograder.classroom.folder import ClassFolder
from autograder.course import CourseError, load_course

COURSE = "attention-2030"
ROOT = Path(__file__).resolve().parents[3]


def rename(root: Path, course_id: str) -> None:
    path = root / "autograder" / "course.toml"
    text = path.read_text()
    path.write_text(f'course_id = "{course_id}"\n{text}')


def test_the_courses_name_is_a_setting(tiny_class: Path) -> None:
    assert load_course(tiny_class).course_id == "default_course"
    rename(tiny_class, COURSE)
    c = Config()
    configure_release(c, tiny_class)
    assert CourseDirectory(config=c).course_id == COURSE


@pytest.mark.parametrize("name", ["", "a/b", "../up", "two words", "a+b"])
def test_a_name_that_is_no_folders_is_refused(tiny_class: Path, name: str) -> None:
    rename(tiny_class, name)
    with pytest.raises(CourseError, match="course_id"):
        load_course(tiny_class)


@pytest.mark.integration
def test_nbgrader_stops_at_an_unknown_setting(tiny_class: Path) -> None:
    """It continues after other errors, and would then grade without our checks."""
    path = tiny_class / "autograder" / "course.toml"
    path.write_text(f'coures_id = "a"\n{path.read_text()}')
    shutil.copy(ROOT / "nbgrader_config.py", tiny_class)
    command = [sys.executable, "-m", "nbgrader", "autograde", UNIT]
    done = subprocess.run(command, cwd=tiny_class, capture_output=True, text=True)
    assert done.returncode == 1
    assert "'coures_id' is unknown: did you mean course_id?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('coures_id = "a"', "'coures_id' is unknown: did you mean course_id."),
        ("torch_index = 5", "torch_index = 5: expected a text in quotes"),
        ('course_id = "a b"', "course_id = 'a b': expected letters"),
    ],
)
def test_a_wrong_setting_is_named(
    tiny_class: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    path = tiny_class / "autograder" / "course.toml"
    path.write_text(f"{line}\n{path.read_text()}")
    shutil.copy(ROOT / "nbgrader_config.py", tiny_class)
    monkeypatch.chdir(tiny_class)
    with pytest.raises(CourseError, match=words):
        ClassFolder(tiny_class)


def test_a_class_apart_finds_the_courses_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    c = Config()
    configure_release(c)
    coursedir = CourseDirectory(config=c, root=str(tmp_path))
    for folder in (coursedir.source_directory, coursedir.release_directory):
        path = coursedir.format_path(folder, ".", "04_attention")
        assert nbformat.read(Path(path) / "04_attention.ipynb", as_version=4).cells


def test_a_course_in_its_own_folder_uses_its_own(tiny_class: Path) -> None:
    c = Config()
    configure_release(c, tiny_class)
    assert c.CourseDirectory.release_directory == "assignments"
    shutil.rmtree(tiny_class / "solutions" / "notebooks")
    configure_release(c, tiny_class)
    assert c.CourseDirectory.release_directory == str(tiny_class / "assignments")
