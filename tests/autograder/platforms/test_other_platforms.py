"""The commands on the page about other platforms run, with the output that it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shown_commands import ANYTHING, pattern
from typer.testing import CliRunner

from autograder.commands.app import app

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "book" / "other_houses.md").read_text(encoding="utf-8")
COURSE = "attention-2030"  # the page's example of a course's name
PROMPT = re.compile(r"(student)?\$ (.*)")


def steps() -> list[tuple[str, str, list[str]]]:
    """Return each command of the page with its user and its expected output."""
    boxes = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    found: list[tuple[str, str, list[str]]] = []
    for line in "".join(boxes).splitlines():
        if prompt := PROMPT.match(line):
            found.append((prompt[1] or "teacher", prompt[2], []))
        else:
            found[-1][2].append(line)
    return found


def test_every_word_of_the_page_that_is_a_command_exists() -> None:
    names = set(re.findall(r"`?(?:^\$ |`)course ([a-z0-9-]+)", PAGE, re.MULTILINE))
    assert {"gradescope", "classroom-github", "classroom-50", "grade"} <= names
    for name in sorted(names):
        assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0, name


def test_the_page_names_the_secrets_that_the_workflows_ask_for() -> None:
    templates = ROOT / "autograder" / "platforms" / "templates"
    texts = "".join(path.read_text() for path in templates.glob("*.yml"))
    asked = set(re.findall(r"secrets\.(\w+)", texts))
    assert asked == set(re.findall(r"`([A-Z]+_[A-Z_]*TOKEN)`", PAGE))


@pytest.mark.slow
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    places = {"teacher": tmp_path / "class", "student": tmp_path / "home"}
    for folder in (*places.values(), tmp_path / "exchange"):
        folder.mkdir()
    (tmp_path / "exchange").chmod(0o777)
    (line,) = re.findall(r"^get_config\(\)\.Exchange.*$", PAGE, re.MULTILINE)
    line = line.replace("/srv/nbgrader/exchange", str(tmp_path / "exchange"))
    course = f'get_config().CourseDirectory.course_id = "{COURSE}"'
    own = (ROOT / "nbgrader_config.py").read_text()
    (places["teacher"] / "nbgrader_config.py").write_text(f"{own}\n{line}\n{course}\n")
    (places["student"] / "nbgrader_config.py").write_text(f"{line}\n")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    commands = steps()
    assert len(commands) >= 9
    for who, command, expected in commands:
        done = subprocess.run(
            command,
            shell=True,
            cwd=places[who],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if expected or not command.startswith("nbgrader"):
            printed = " ".join(done.stdout.split())
            words = pattern(expected or [ANYTHING])
            assert re.fullmatch(words, printed), f"{command}\n{done.stdout}"
    assert list(places["student"].glob("04_attention/feedback/*/04_attention.html"))
    assert f'course_id = "{COURSE}"' in PAGE
