"""`course all` shows its progress on one screen, and names the step that fails."""

import contextlib
import json
import os
import pty
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.commands import build_all, sample_steps
from autograder.commands.sample_steps import SampleClass
from autograder.course import load_course

SLUGS = [unit.slug for unit in load_course().units]
STUDENTS = [f"student-{number}" for number in range(12)]
NOISE = "print('warning: somebody else\\'s', '\\x1b[31mred\\x1b[0m', '.' * 200)\n"
READ = "print('\\x1b[01mreading sources... \\x1b[0m[ 42%] \\x1b[35m07_masks\\x1b[0m')"
GRADE = """
import json, os, sys, time
log = sys.argv[1] + "/grading/audit.jsonl"
os.makedirs(os.path.dirname(log), exist_ok=True)
for unit in {slugs!r}:
    for student in {students!r}:
        os.makedirs(f"{{sys.argv[1]}}/submitted/{{student}}/{{unit}}", exist_ok=True)
    with open(log, "a") as file:
        for student in {students!r}:
            line = {{"unit": unit, "student": student, "score": 1.0}}
            file.write(json.dumps(line) + "\\n")
"""

# The sample class of unit 04. The test does not rely on `course sample-class`.
EXPECTED = {
    "perfect-one": 85.0,
    "perfect-two": 85.0,
    "half-done": 40.0,
    "mistake-1": 70.0,
    "mistake-2": 60.0,
    "mistake-3": 55.0,
    "mistake-4": 70.0,
    "mistake-5": 70.0,
    "untouched": 0.0,
    "raising": 70.0,
    "looping": 70.0,
    "damaged": 85.0,
}


@pytest.fixture
def run_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run `course all` with commands that only print, or with a few real ones."""
    build = tmp_path / "build"
    monkeypatch.setattr(build_all, "ROOT", tmp_path)
    monkeypatch.setattr(build_all, "BUILD", build)
    real = build_all.course_command

    def run(
        *units: str, every: bool = False, really: tuple[str, ...] = (), **instead: str
    ) -> None:
        fakes = {"book": NOISE + READ, "grade": NOISE + graded(), **instead}

        def command(name: str, *arguments: object) -> list[str]:
            if name in really:
                return real(name, *arguments)
            code = fakes.get(name, NOISE)
            return [sys.executable, "-c", code, str(build / "sample-class")]

        for module in (build_all, sample_steps):
            monkeypatch.setattr(module, "course_command", command)
        if "grade" not in really:
            (build / "sample-class").mkdir(parents=True)
            monkeypatch.setattr(SampleClass, "compare", lambda self, progress: None)
        build_all.build_all(list(units), every_unit=every)

    return run


def graded(slugs: list[str] = SLUGS) -> str:
    return GRADE.format(slugs=slugs, students=STUDENTS)


def is_one_screen(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) < 60
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in text
    assert [m for m in re.findall(r"\] (\d)/5 ", text)] == list("12345")
    assert "somebody else" not in text


def test_one_unit_is_the_default_and_is_named(run_all, capfd) -> None:
    run_all(grade=graded(["04_attention"]))
    text = capfd.readouterr().out
    is_one_screen(text)
    assert "twelve made-up students of 04_attention\n" in text
    assert "04_attention             12 graded" in text
    assert "course all --every-unit" in text


def test_thirteen_units_fit_on_one_screen(run_all, tmp_path, capfd) -> None:
    run_all(every=True)
    text, errors = capfd.readouterr()
    is_one_screen(text)
    assert errors == ""
    assert [slug for slug in SLUGS if re.search(rf"{slug} +12 graded", text)] == SLUGS
    assert "of each of 13 units" in text
    assert "course all" not in text
    assert "read up to 42%, 07_masks" in text
    assert "book/_build/html/index.html" in text
    log = (tmp_path / "build" / "course.log").read_text(encoding="utf-8")
    assert log.count("somebody else") == 5
    assert "\x1b" not in log
    assert text.split("all details")[1].split()[0] == "build/course.log"


def test_without_fork_the_class_is_not_graded(run_all, monkeypatch, capfd) -> None:
    monkeypatch.delattr(os, "fork")
    run_all()
    text = capfd.readouterr().out
    is_one_screen(text)
    assert "Grading: left out, as it needs Linux or macOS\n" in text
    assert "what came back" in text and "feedback on it" not in text


@pytest.mark.parametrize("name", ["notebooks", "sample-class", "grade", "book"])
def test_a_step_that_fails_ends_it_with_its_last_words(name, run_all, capfd) -> None:
    broken = NOISE + "print('the disk is full'); raise SystemExit(3)"
    with pytest.raises(SystemExit) as left:
        run_all(**{name: broken})
    assert left.value.code == 1
    text = capfd.readouterr().out
    assert f"Failed: {name} ended with status 3" in text
    assert text.rstrip().splitlines()[-2].strip() == "the disk is full"
    assert "course.log" in text.splitlines()[-1]
    assert "Where to look" not in text


def test_a_terminal_shows_what_is_being_done_in_place(run_all, monkeypatch) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setenv("COLUMNS", "80")
    read: list[bytes] = []

    def listen() -> None:
        with contextlib.suppress(OSError):  # the end of a terminal
            while True:
                read.append(os.read(ours, 65536))

    listening = threading.Thread(target=listen)
    listening.start()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        run_all("04", grade="import time; time.sleep(1.2)\n" + graded())
        monkeypatch.undo()
    listening.join()
    os.close(ours)
    shown = b"".join(read).decode().replace("\r\n", "\n")
    assert re.search(r"\r {8}0 of \d+ submissions graded", shown)
    assert "\x1b" not in shown
    kept = "\n".join(line.rpartition("\r")[2] for line in shown.split("\n"))
    is_one_screen(kept)


def test_a_wrong_score_is_named(tmp_path, monkeypatch) -> None:
    """The test compares the gradebook, not grading's own output."""
    sample = SampleClass(tmp_path, ["01_tiny"])
    sample.submitted.mkdir()
    table = {"students": {"ada": {"score": 7}, "emmy": {"score": 8}}}
    (sample.submitted / "expected_01_tiny.json").write_text(json.dumps(table))
    monkeypatch.setattr(
        "autograder.marks.scores_in_gradebook",
        lambda address, slug: {"ada": 7.0, "emmy": 8.5},
    )
    with pytest.raises(sample_steps.StepFailed) as failed:
        sample.compare(None)
    assert failed.value.lines == ["01_tiny, emmy: expected 8, found 8.5"]
