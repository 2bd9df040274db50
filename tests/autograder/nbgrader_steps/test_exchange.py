"""The whole way through nbgrader's exchange, as on a JupyterHub."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from handing_in import HandIn
from nbgrader.coursedir import CourseDirectory
from sets import first_of
from tiny_grading import UNIT, grade, nbgrader, scores
from traitlets.config import Config

from autograder.assemble.release import configure_release
from autograder.classroom.folder import ClassFolder
from autograder.course import CourseError, load_course
from autograder.unit import GradedUnit

COURSE = "attention-2030"
ROOT = Path(__file__).resolve().parents[3]
Run = Callable[..., str]


def rename(root: Path, course_id: str) -> None:
    path = root / "autograder" / "course.toml"
    text = path.read_text()
    path.write_text(f'course_id = "{course_id}"\n{text}')


@pytest.fixture
def exchange(tmp_path: Path) -> Path:
    folder = tmp_path / "exchange"
    folder.mkdir()
    folder.chmod(0o777)  # nbgrader: every user makes folders there
    return folder


@pytest.fixture
def run(
    tiny_class: Path, exchange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Return a function: run a command of nbgrader's as "teacher" or "student"."""
    rename(tiny_class, COURSE)
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(programs))
    config = (ROOT / "nbgrader_config.py").read_text()
    (tiny_class / "nbgrader_config.py").write_text(config)
    (tmp_path / "home").mkdir()

    def run_as(who: str, *words: str) -> str:
        where = [f"--Exchange.root={exchange}"]
        if who == "teacher":
            done = nbgrader(tiny_class, *words, *where)
        else:
            command = [sys.executable, "-m", "nbgrader", *words, "--course", COURSE]
            done = subprocess.run(
                [*command, *where],
                cwd=tmp_path / "home",
                capture_output=True,
                text=True,
            )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run_as


@pytest.mark.slow
def test_a_unit_goes_out_comes_back_and_its_feedback_returns(
    run: Run, tiny_class: Path, tiny_unit: GradedUnit, exchange: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home" / UNIT
    run("teacher", "release_assignment", UNIT)
    assert (exchange / COURSE / "outbound" / UNIT / f"{UNIT}.ipynb").is_file()
    assert UNIT in run("student", "list")
    run("student", "fetch_assignment", UNIT)
    assert (home / "tiny" / "basis.py").is_file()  # the kit comes along
    hand = HandIn(tiny_unit, tmp_path, "student")
    hand.right("double", "quadruple")
    (home / f"{UNIT}.ipynb").write_text(hand.text())
    run("student", "submit", UNIT)
    run("teacher", "collect", UNIT)
    (student,) = (path.name for path in (tiny_class / "submitted").iterdir())
    done = grade(tiny_class, "--workers", "1")
    assert done.exit_code == 0, done.output
    assert scores(tiny_class) == {student: 30.0}
    run("teacher", "release_feedback", UNIT)
    run("student", "fetch_feedback", UNIT)
    (page,) = home.glob(f"feedback/*/{UNIT}.html")
    assert "quadruple" in page.read_text(encoding="utf-8")


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
@pytest.mark.parametrize(
    ("line", "words"),
    first_of(
        [
            ('coures_id = "a"', "'coures_id' is unknown: did you mean course_id?"),
            ("torch_index = 5", "torch_index = 5: expected a text in quotes"),
            ('course_id = "a b"', "course_id = 'a b': expected letters"),
        ]
    ),
)
def test_nbgrader_stops_at_a_setting_that_is_none(
    tiny_class: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    """It goes on after other errors, and would grade without our checks."""
    path = tiny_class / "autograder" / "course.toml"
    path.write_text(f"{line}\n{path.read_text()}")
    shutil.copy(ROOT / "nbgrader_config.py", tiny_class)
    command = [sys.executable, "-m", "nbgrader", "autograde", UNIT]
    done = subprocess.run(command, cwd=tiny_class, capture_output=True, text=True)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    monkeypatch.chdir(tiny_class)
    with pytest.raises(CourseError, match=words.replace("?", ".")):
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
