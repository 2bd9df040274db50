"""An interrupted or killed run continues where it was, and no result is stale."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from nbgrader.api import Gradebook
from sets import first_of
from tiny_grading import EXPECTED, UNIT, cells, grade, only, scores, submission

from autograder.classroom.fingerprint import fingerprint_of_unit
from autograder.classroom.folder import ClassFolder
from autograder.unit import graded_unit

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
REPOSITORY = Path(__file__).parents[3]
KILLS = int(os.environ.get("COURSE_KILLS", "2"))
PATIENCE = 600  # seconds: only hanging fails, not slowness


def log(root: Path) -> list[dict]:
    """Return the lines of the audit log, without an incomplete last line."""
    path, lines = root / "grading" / "audit.jsonl", []
    for text in path.read_text().splitlines() if path.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):
            lines.append(json.loads(text))
    return lines


def statuses(root: Path) -> list[tuple[str, str]]:
    return [(line["student"], line["status"]) for line in log(root)]


def test_the_audit_log_says_who_graded_what_and_how(classroom):
    only(classroom, "mistake-1", "damaged", "looping")
    submission(classroom, "looping").write_text("")
    assert grade(classroom, "--workers", "1").exit_code == 1
    lines = {line["student"]: line for line in log(classroom)}
    line = lines["mistake-1"]
    assert line["status"] == "graded"
    assert line["score"] == EXPECTED["mistake-1"]
    assert line["scores"]["double"] == 6.67
    assert line["by"] and line["when"] and line["seconds"] > 0
    assert line["seed"] == 0
    assert {"python", "torch", "nbgrader"} <= set(line["versions"])
    assert lines["damaged"]["repair"]
    assert lines["looping"]["status"] == "refused"
    assert "empty" in lines["looping"]["reason"]
    assert "CANARY" not in (classroom / "grading" / "audit.jsonl").read_text()
    with (classroom / "grading" / "audit.jsonl").open("a") as file:
        file.write('{"cut off')
    assert grade(classroom, "--student", "mistake-1").exit_code == 0
    last = (classroom / "grading" / "audit.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["status"] == "kept"


def test_what_is_graded_is_kept_until_something_changes(classroom):
    only(classroom, "perfect-one", "mistake-1")
    assert grade(classroom, "--workers", "1").exit_code == 0
    done = grade(classroom)
    assert "perfect-one: 70 of 70 as before" in done.output
    assert statuses(classroom)[2:] == [("mistake-1", "kept"), ("perfect-one", "kept")]
    shutil.copyfile(
        submission(classroom, "mistake-1"), submission(classroom, "perfect-one")
    )
    assert grade(classroom).exit_code == 0
    assert statuses(classroom)[4:] == [("mistake-1", "kept"), ("perfect-one", "graded")]
    assert scores(classroom)["perfect-one"] == EXPECTED["mistake-1"]
    assert grade(classroom, "--force", "--workers", "1").exit_code == 0
    assert {status for _, status in statuses(classroom)[6:]} == {"graded"}


def test_the_kit_and_the_limits_decide_too(tiny_class):
    def fingerprint() -> str:
        return fingerprint_of_unit(
            ClassFolder(tiny_class), graded_unit(UNIT, tiny_class)
        )

    found = [fingerprint()]
    (tiny_class / "assignments" / UNIT / "more.py").write_text("x = 1\n")
    found.append(fingerprint())
    with (tiny_class / "nbgrader_config.py").open("a") as file:
        file.write('c.RunHiddenChecks.limits = {"cell_seconds": 4}\n')
    found.append(fingerprint())
    assert len(set(found)) == 3
    assert fingerprint() == found[-1]


def test_a_class_in_another_folder_is_not_graded_again(tiny_class):
    def fingerprint(root: Path) -> str:
        return fingerprint_of_unit(ClassFolder(root), graded_unit(UNIT, root))

    found = fingerprint(tiny_class)
    moved = shutil.copytree(tiny_class, tiny_class.with_name("moved"))
    assert fingerprint(moved) == found


def test_other_points_count_after_a_class_was_graded(classroom):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    for folder in (classroom / "solutions" / "notebooks", classroom / "assignments"):
        path = folder / UNIT / f"{UNIT}.ipynb"
        text = path.read_text(encoding="utf-8")
        for before, after in ((20, 25), (40, 35)):
            assert f'"points": {before},' in text
            text = text.replace(f'"points": {before},', f'"points": {after},')
        path.write_text(text, encoding="utf-8")
    done = grade(classroom)
    assert done.exit_code == 0, done.output
    assert scores(classroom) == {"perfect-one": 70.0}
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        cells = gradebook.find_notebook(UNIT, UNIT).grade_cells
        assert sorted(one.max_score for one in cells) == [10, 25, 30, 35]


CHANGES = ["checks", "gradebook", "files"]


@pytest.mark.parametrize("change", first_of(CHANGES, 2))
def test_no_score_goes_stale(classroom, change):
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    if change == "checks":
        with (classroom / "autograder/checks/test_01_tiny.py").open("a") as file:
            file.write("\n# another version\n")
    elif change == "gradebook":
        (classroom / "gradebook.db").unlink()
    else:
        shutil.rmtree(classroom / "autograded")
    assert grade(classroom).exit_code == 0
    assert statuses(classroom) == [("perfect-one", "graded")] * 2
    assert scores(classroom) == {"perfect-one": 70.0}


def test_feedback_follows_what_a_human_gave_without_a_regrade(classroom):
    only(classroom, "perfect-one")
    assert grade(classroom, "--no-feedback").exit_code == 0
    page = classroom / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    assert not page.exists()
    assert grade(classroom).exit_code == 0
    assert page.exists()
    with Gradebook(f"sqlite:///{classroom}/gradebook.db") as gradebook:
        comment = gradebook.find_comment("why", UNIT, UNIT, "perfect-one")
        comment.manual_comment = "Well said."
        gradebook.db.commit()
    assert grade(classroom).exit_code == 0
    assert "Well said." in page.read_text()
    made = page.stat().st_mtime_ns
    assert grade(classroom).exit_code == 0
    assert page.stat().st_mtime_ns == made
    assert [status for _, status in statuses(classroom)] == ["graded"] + ["kept"] * 3


def start(root: Path, *more: str) -> subprocess.Popen:
    paths = os.pathsep.join([str(REPOSITORY), str(root / "solutions")])
    command = [sys.executable, "-m", "autograder", "grade", "--workers", "2"]
    return subprocess.Popen(
        [*command, "--course-root", str(root), *more],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@contextlib.contextmanager
def started(root: Path, *more: str) -> Iterator[subprocess.Popen]:
    """Start a run that ends with the test at the latest."""
    process = start(root, *more)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(path: Path, process: subprocess.Popen) -> None:
    """Wait until a run has written a file."""
    until = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, f"{path} did not appear"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_student_in_another_runs_hands_is_waited_for(classroom):
    only(classroom, "perfect-one")
    place = classroom / "grading" / "locks" / UNIT
    place.mkdir(parents=True)
    with started(classroom) as process:
        with FileLock(place / "perfect-one.lock"):
            wait_for(classroom / "gradebook.db", process)  # then it looks for work
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            assert log(classroom) == []
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert statuses(classroom) == [("perfect-one", "graded")]


def is_alive(session: int) -> bool:
    """Tell whether a process of a session still runs."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                return True
    return False


def kill_at_some_moment(root: Path, dice: random.Random) -> bool:
    """Start a run and kill it after some submissions. Return False if it had ended."""
    process = start(root)
    until = len(log(root)) + dice.choice([0, 0, 1, 2])
    with process, process.stdout:
        while len(log(root)) < until and process.poll() is None:
            time.sleep(0.05)
        time.sleep(dice.uniform(0, 8 if dice.random() < 0.5 else 1))
        ended = process.poll() is not None
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while is_alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_alive(process.pid)
    return not ended


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_at_random_moments_it_ends_as_if_it_had_not_been(classroom, tmp_path):
    names = ("perfect-one", "mistake-1", "mistake-2", "half-done", "damaged")
    only(classroom, *names)
    dice = random.Random(7)
    for _ in range(KILLS):
        finished = {
            (path.stem, json.loads(path.read_text())["unit"])
            for path in classroom.glob(f"grading/done/{UNIT}/*.json")
        }
        before = len(log(classroom))
        kill_at_some_moment(classroom, dice)
        again = {
            (line["student"], line["hashes"]["unit"])
            for line in log(classroom)[before:]
            if line["status"] == "graded"
        }
        assert not again & finished
    assert grade(classroom).exit_code == 0
    killed = cells(classroom)
    assert scores(classroom) == {name: EXPECTED[name] for name in names}
    for name in names:
        assert (classroom / "feedback" / name / UNIT / f"{UNIT}.html").is_file()
    for folder in ("grading", "autograded", "feedback"):
        shutil.rmtree(classroom / folder)
    (classroom / "gradebook.db").unlink()
    assert grade(classroom).exit_code == 0
    assert cells(classroom) == killed
