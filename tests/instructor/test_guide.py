"""The instructor's guide: its commands run as written, and print what it shows."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from lms_archives import UNIT, archive
from nbgrader.api import Gradebook
from shown_commands import pattern
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.proof.sample_class import SampleClass

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "book" / "instructor.md").read_text(encoding="utf-8")
# What needs a network, an address of yours or an hour is shown without `$`.
SHOWN_ONLY = (
    *("git clone ", "cd ", "make ", "git -C ../public ", "course verify 04 "),
    *("course extend ", "course marks 04 --take "),  # tests of their own run them
)


def boxes(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, list[str]]]:
    """Return each command of the page with the lines that it is to print."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(boxes("console")).splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def test_a_pattern_can_fail():
    assert re.fullmatch(pattern(["a … c", "…", "d"]), "a b c x y d")
    assert not re.fullmatch(pattern(["a … c", "…", "d"]), "a b c x y")
    assert not re.fullmatch(pattern([]), "anything")


def test_what_is_only_shown_is_known():
    lines = [line for box in boxes("sh") for line in box.splitlines()]
    assert lines
    assert [line for line in lines if not line.startswith(SHOWN_ONLY)] == []


def test_every_course_command_of_the_page_exists():
    names = set(re.findall(r"`?(?:^\$ |`)course ([a-z-]+)", GUIDE, re.MULTILINE))
    assert {"publish", "collect", "grade", "colab-autograde"} <= names
    for name in sorted(names):
        assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0, name


@pytest.mark.slow
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "course").symlink_to(ROOT)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    commands = steps()
    assert len(commands) >= 10
    for command, expected in commands:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path / "class",
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        printed = " ".join(done.stdout.split())
        assert re.fullmatch(pattern(expected), printed), f"{command}\n{done.stdout}"


@pytest.fixture
def in_utc() -> Iterator[None]:
    """Let this process believe that it is in Greenwich: archives hold local times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_the_late_rule_of_the_page_takes_a_tenth_a_day(
    root: Path, tmp_path: Path, in_utc: None
) -> None:
    (rule,) = boxes("toml")
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    setting = root / "autograder" / "course.toml"
    setting.write_text(f"{setting.read_text()}\n{rule}")
    made = SampleClass(UNIT, root)
    notebook = nbformat.writes(made.notebook(made.answers)).encode()
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-11-01 00:00:00 UTC")
    path = archive(
        tmp_path / "moodle.zip",
        ("Ada Lovelace_1_assignsubmission_file_/01_tiny.ipynb", notebook,
         (2026, 11, 3, 12, 0, 0)),
        ("Emmy Noether_2_assignsubmission_file_/01_tiny.ipynb", notebook,
         (2026, 10, 30, 12, 0, 0)),
    )  # fmt: skip
    for words in (["collect", str(path)], ["grade", "01", "--workers", "1"]):
        done = CliRunner().invoke(app, [*words, "--course-root", str(root)])
        assert done.exit_code == 0, done.output
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        found = {s.student.id: s for s in gradebook.assignment_submissions(UNIT)}
        late = found["ada-lovelace"].late_submission_penalty
        assert late == pytest.approx(70 * 0.3)
        assert found["emmy-noether"].late_submission_penalty == 0
