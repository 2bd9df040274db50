"""Gradescope's autograder, unpacked and run in the documented layout."""

import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile_cell import HOSTILE
from layouts import Machine, notebook, results
from open_python import open_python
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course, load_course
from autograder.grading.outcome import Outcome
from autograder.platforms.alone import PROTECTION, protection
from autograder.platforms.bundle import requirements
from autograder.platforms.gradescope import say
from autograder.platforms.package import gradescope_zip
from autograder.unit import GradedUnit, Submission

ROOT = Path(__file__).resolve().parents[3]
Grade = Callable[..., dict[str, Any]]
# The fields that Gradescope reads according to its specification, and their types.
WHOLE = {
    "score": (int, float),
    "output": str,
    "output_format": str,
    "test_output_format": str,
    "test_name_format": str,
    "stdout_visibility": str,
    "tests": list,
}
TEST = {
    "name": str,
    "score": (int, float),
    "max_score": (int, float),
    "status": str,
    "output": str,
    "output_format": str,
    "visibility": str,
}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}


def written(root: Path, unit: str, *more: str) -> Path:
    path = root / "made.zip"
    done = CliRunner().invoke(app, ["gradescope", unit, "--out", str(path), *more])
    assert done.exit_code == 0, done.output
    return path


def place() -> Path:
    """Make a folder that every account may enter, like `/autograder`."""
    folder = Path(tempfile.mkdtemp(prefix="gradescope-"))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    folder = place()
    with open_python() as python:
        yield Machine(folder, python)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def image(machine: Machine, tiny_root: Path) -> Iterator[Path]:
    """Build the image: unpack the zip, copy `run_autograder`, run `setup.sh`."""
    root = place()
    path = written(root, "01", "--course-root", str(tiny_root))
    for folder in ("source", "submission", "results"):
        (root / folder).mkdir()
    with zipfile.ZipFile(path) as archive:
        archive.extractall(root / "source")
        for entry in archive.infolist():
            (root / "source" / entry.filename).chmod(entry.external_attr >> 16)
    path.unlink()
    shutil.copy2(root / "source" / "run_autograder", root)
    setup = root / "source" / "setup.sh"
    done = machine.run(setup, cwd=root, AUTOGRADER_ROOT=root)
    assert done.returncode == 0, done.stdout + done.stderr
    yield root
    shutil.rmtree(root)


@pytest.fixture
def grade(machine: Machine, image: Path) -> Grade:
    """Return a function that hands files in, and reads Gradescope's results."""

    def graded(**files: bytes) -> dict[str, Any]:
        shutil.rmtree(image / "submission")
        shutil.rmtree(image / "results")
        (image / "submission").mkdir()
        (image / "results").mkdir()
        for name, content in files.items():
            (image / "submission" / f"{name}.ipynb").write_bytes(content)
        program = image / "run_autograder"
        done = machine.run(program, cwd=image, AUTOGRADER_ROOT=image)
        (image / "results" / "stdout").write_text(done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr
        return results(image)

    return graded


def of_type(found: dict[str, Any], known: dict[str, Any]) -> None:
    for key, value in found.items():
        assert isinstance(value, known[key]), key
    for key in found:
        if "format" in key:
            assert found[key] in FORMATS
        if "visibility" in key:
            assert found[key] in VISIBILITIES


def test_the_zip_holds_what_is_documented(tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path, "04")) as archive:
        names = set(archive.namelist())
        modes = {i.filename: i.external_attr >> 16 & 0o777 for i in archive.infolist()}
        text = archive.read("run_autograder").decode()
    assert {"setup.sh", "run_autograder", "requirements.txt"} <= names
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    assert "04_attention --visibility after_published" in text


def test_the_zip_holds_one_units_answers_and_checks(tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path, "04")) as archive:
        names = archive.namelist()
    checks = [name for name in names if "/checks/test_" in name]
    assert checks == ["autograder/checks/test_04_attention.py"]
    assert "solutions/transformer/attention.py" in names
    assert "solutions/transformer/multi_head.py" not in names
    notebooks = [name for name in names if name.endswith(".ipynb")]
    assert notebooks == [
        "assignments/04_attention/04_attention.ipynb",
        "assignments/ko/04_attention/04_attention.ipynb",
        "solutions/notebooks/04_attention/04_attention.ipynb",
    ]
    assert not [name for name in names if "/proof/" in name or name.endswith(".db")]


def test_the_same_zip_is_made_twice(tmp_path: Path) -> None:
    first = written(tmp_path, "04").read_bytes()
    assert written(tmp_path, "04").read_bytes() == first


def test_a_word_that_gradescope_does_not_know_is_refused(tmp_path: Path) -> None:
    words = ["gradescope", "04", "--visibility", "never", "--out", str(tmp_path / "z")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "after_published" in done.stderr and not (tmp_path / "z").exists()


def test_what_is_required_can_be_had_with_the_pinned_versions() -> None:
    pins = (ROOT / "constraints.txt").read_text().split()
    pinned = {line.partition("==")[0].lower() for line in pins}
    names = {
        line.partition("[")[0].partition("=")[0].rstrip("><~! ").lower()
        for line in requirements(load_course())
    }
    assert {"torch", "nbformat", "nh3", "filelock", "ipykernel"} <= names
    assert names <= pinned


@pytest.mark.integration
def test_the_grader_there_does_without_nbgrader() -> None:
    code = (
        "import sys, autograder.platforms.gradescope, autograder.platforms.github\n"
        "print({'nbgrader', 'sqlalchemy'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.integration
def test_pytorch_is_looked_for_where_the_setting_says(tmp_path: Path) -> None:
    course = load_course()
    unit = course.unit("04")

    def set_up(chosen: Course) -> str:
        with zipfile.ZipFile(
            io.BytesIO(gradescope_zip(chosen, unit, "hidden"))
        ) as made:
            return made.read("setup.sh").decode()

    assert f"--extra-index-url {course.torch_index} " in set_up(course)
    assert "index" not in set_up(replace(course, torch_index=""))
    elsewhere = replace(course, torch_index="https://cpu.example/a b")
    option = "--extra-index-url 'https://cpu.example/a b' -c constraints.txt"
    assert option in set_up(elsewhere)


@pytest.mark.slow
def test_set_up_installs_into_a_place_of_its_own(image: Path, machine: Machine) -> None:
    asked = machine.log.read_text().splitlines()
    assert "apt-get install -y bubblewrap" in asked
    assert (image / "python" / "bin" / "python").exists()
    text = (image / "source" / "setup.sh").read_text()
    assert "-c constraints.txt -r requirements.txt" in text


@pytest.mark.slow
def test_without_a_new_python_it_asks_for_one(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    machine = Machine(folder, Path("/bin/false"))
    source = tmp_path / "source"
    source.mkdir()
    with zipfile.ZipFile(written(tmp_path, "04")) as archive:
        (source / "setup.sh").write_bytes(archive.read("setup.sh"))
    done = machine.run(
        "bash", source / "setup.sh", cwd=source, AUTOGRADER_ROOT=tmp_path
    )
    assert done.returncode == 1
    assert "choose a newer base image" in done.stderr
    assert "python3.11-venv" in machine.log.read_text()


@pytest.mark.slow
def test_a_right_notebook_gets_all(grade: Grade, tiny_unit: GradedUnit) -> None:
    found = grade(**{"01_tiny": notebook(tiny_unit)})
    of_type(found, WHOLE)
    for test in found["tests"]:
        of_type(test, TEST)
    assert found["score"] == 70
    assert sum(test.get("score", 0) for test in found["tests"]) == pytest.approx(70)
    assert sum(test.get("max_score", 0) for test in found["tests"]) == pytest.approx(70)
    assert {test["status"] for test in found["tests"]} == {"passed"}
    reading, *checks = found["tests"]
    assert reading["visibility"] == "visible" and "score" not in reading
    assert {test["visibility"] for test in checks} == {"after_published"}
    assert "leaderboard" not in found and found["stdout_visibility"] == "hidden"


@pytest.mark.integration
def test_a_mistake_costs_its_points_and_is_told(
    grade: Grade, tiny_unit: GradedUnit
) -> None:
    found = grade(renamed=notebook(tiny_unit, "double"))
    assert 0 < found["score"] < 70
    failed = [test for test in found["tests"] if test["status"] == "failed"]
    assert failed and all(test["name"].startswith("double") for test in failed)
    assert all(test["score"] == 0 for test in failed)
    assert any(test["output"] for test in failed)


@pytest.mark.integration
def test_nothing_handed_in_is_said(grade: Grade) -> None:
    found = grade()
    assert found["score"] == 0
    assert "contains no notebook" in found["output"]
    assert found["tests"][0]["visibility"] == "visible"
    assert "hand in 01_tiny.ipynb" in found["tests"][0]["output"]


@pytest.mark.slow
def test_a_hostile_notebook_changes_nothing_and_reads_nothing(
    grade: Grade, image: Path, tiny_unit: GradedUnit
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives accounts")
    log = place() / "log.txt"
    log.touch()
    log.chmod(0o666)
    cell = HOSTILE.replace("LOG", repr(str(log))).replace("ROOT", repr(str(image)))
    cell = cell.replace("GRADER", str(os.getpid()))
    found = grade(hostile=notebook(tiny_unit, "double", cells=[cell]))
    lines = log.read_text().splitlines()
    shutil.rmtree(log.parent)
    assert len(lines) >= 9, lines
    assert [line for line in lines if not line.startswith("kept from")] == []
    assert 0 < found["score"] < 70
    assert found["tests"][1:] and "100" not in str(found["score"])
    printed = (image / "results" / "stdout").read_text()
    assert "account of its own" in printed and "time" in printed


@pytest.mark.parametrize("kind", PROTECTION)
def test_the_instructor_is_told_what_protected(
    kind: str, capsys: pytest.CaptureFixture
) -> None:
    submission = Submission("someone", "01_tiny", Path("nowhere"))
    say(Outcome(submission, "failed", "no \x1b[31m notebook"), kind)
    printed = capsys.readouterr().out
    assert printed.startswith("NOT PROTECTED" if kind == "none" else "Protected by")
    assert "\x1b" not in printed
    assert protection(Outcome(submission, "refused"), kind) == ""  # nothing ran
