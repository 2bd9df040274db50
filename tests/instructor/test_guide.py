"""The commands of the instructor's guide run as written, and print the same output."""

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
from bs4 import BeautifulSoup, Tag
from guide_pictures.scenes import SCENES
from lms_archives import UNIT, archive
from nbgrader.api import Gradebook
from PIL import Image
from shown_commands import pattern
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.proof.sample_class import SampleClass

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
FOLDER = BOOK / "_static" / "guide"  # the guide's pictures
MOST, MOST_TOGETHER = 250_000, 1_000_000  # bytes
EVENING, DETAILS = (
    (BOOK / f"{name}.md").read_text(encoding="utf-8")
    for name in ("instructor", "instructor_details")
)
GUIDE = f"{EVENING}\n{DETAILS}"
# The guide shows commands that need a network, your address or an hour without `$`.
SHOWN_ONLY = (
    *("git clone ", "cd ", "make ", "git -C ../public ", "course verify 04 "),
    *("course extend ", "course marks 04 --take "),  # other tests run them
)


def boxes(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, list[str]]]:
    """Return each command of the page with the lines that it should print."""
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


def test_each_step_of_the_evening_has_a_goal_and_a_command():
    steps_of_evening = re.split(r"^## ", EVENING, flags=re.MULTILINE)[1:]
    for number, step in enumerate(steps_of_evening, 1):
        assert re.match(rf"Step {number}: .+\n\nGoal: ", step)
        assert re.search(r"^(\$ |make )", step, re.MULTILINE)
    assert len(steps_of_evening) == 8


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
    """Set this process to Greenwich time, because archives contain local times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.integration
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


# One command makes all pictures of the guide, and the page shows all of them.


@pytest.fixture(scope="module")
def shown() -> dict[str, Tag]:
    """Return the pictures of the guide by their file names."""
    images = BeautifulSoup(GUIDE, "html.parser").select("figure.screen > img")
    assert all((BOOK / image["src"]).parent == FOLDER for image in images)
    return {Path(image["src"]).name: image for image in images}


def sizes(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: opened(path).size for path in folder.iterdir()}


def opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
    return picture


def test_the_page_shows_every_picture_once_and_no_other(shown: dict[str, Tag]) -> None:
    assert set(shown) == {f"{name}.png" for name in SCENES}
    assert set(shown) == {path.name for path in FOLDER.iterdir()}
    assert [GUIDE.count(f"_static/guide/{name}") for name in shown] == [1] * len(shown)


def test_pictures_are_described_and_leave_their_place_free(shown: dict[str, Tag]):
    found = sizes(FOLDER)
    for name, image in shown.items():
        assert (int(image["width"]), int(image["height"])) == found[name], name
        assert len(image["alt"]) > 60, name
        assert image["loading"] == "lazy", name
        assert image.find_next_sibling("figcaption").get_text(), name


def test_pictures_are_small_and_hold_no_notes() -> None:
    paths = list(FOLDER.iterdir())
    assert {path.name for path in paths if path.stat().st_size > MOST} == set()
    assert sum(path.stat().st_size for path in paths) < MOST_TOGETHER
    assert {path.name for path in paths if opened(path).info} == set()


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_the_command_makes_every_picture_anew(shown, tmp_path: Path) -> None:
    """If names or sizes differ from those on the page, run `make pictures`.

    Other fonts break lines elsewhere, so a small difference in height is allowed.
    """
    command = [sys.executable, "-m", "guide_pictures", "--to", str(tmp_path)]
    done = subprocess.run(command, cwd=BOOK, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    made, kept = sizes(tmp_path), sizes(FOLDER)
    assert set(made) == set(shown)
    for name, size in made.items():
        assert size == pytest.approx(kept[name], rel=0.15), name
